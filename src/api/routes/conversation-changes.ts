import {
  BulkResults,
  BulkUpdate,
  checkSnooze,
  MAX_BULK,
  Merge,
} from '../../domain/conversations/conversation-changes.ts';
import { Conversation } from '../../domain/conversations/conversations.ts';
import { toTypeId } from '../../domain/ids.ts';
import {
  changeConversations,
  mergeConversation as mergeConversationRow,
} from '../../storage/conversations/conversation-changes.ts';
import type { ConversationRow } from '../../storage/conversations/conversation-rows.ts';
import { authorOf } from '../credentials/author.ts';
import { operation, reply } from '../operation.ts';
import { ConversationPath, conversationReply, conversationTag } from './presenters/conversations.ts';

export const updateConversations = operation({
  id: 'updateConversations',
  method: 'post',
  path: '/v1/conversations/bulk',
  tag: 'Conversations',
  summary: `Make one change of up to ${MAX_BULK} conversations`,
  description:
    'Every id gets a result of its own: `changed`, `unchanged` if it had these values already, `not-found`, or `conflict` with a `code`. All changes are made in one transaction, each with its events.',
  credentials: ['api-key', 'session'],
  right: 'conversations:write',
  audit: 'conversations.updated',
  body: BulkUpdate,
  status: 200,
  response: BulkResults,
  async handle({ caller, body: { ids, change }, receivedAt }, { storage }) {
    checkSnooze(change.snoozed_until, receivedAt, '/change/snoozed_until');
    const actor = { author: authorOf(caller), pointer: '/change' };
    const outcomes = await changeConversations(storage.forTenant(caller.tenantId), ids, actor, change);
    const results = outcomes.map(({ id, ...outcome }) => ({ id: toTypeId('conversation', id), ...outcome }));
    return reply({ body: { results }, unchanged: !results.some(({ status }) => status === 'changed') });
  },
});

export const mergeConversation = operation({
  id: 'mergeConversation',
  method: 'post',
  path: '/v1/conversations/{id}/merge',
  tag: 'Conversations',
  summary: 'Merge a conversation into another one of the same user',
  description:
    'The conversation is resolved with `merged_into_id`. Its messages stay where they are; later ones, also those that the user writes to it, are written to the other conversation. If the user waits for a reply, the other one opens and has the earlier `waiting_since`. A merge cannot be undone.',
  credentials: ['api-key', 'session'],
  right: 'conversations:write',
  audit: 'conversation.merged',
  params: ConversationPath,
  body: Merge,
  status: 200,
  response: Conversation,
  ifMatch: true,
  etag: true,
  problems: ['invalid-transition'],
  async handle({ caller, params, body, requireTag }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    const check = (before: ConversationRow) => requireTag(conversationTag('team', before), 'settings');
    const row = await mergeConversationRow(tenant, { id: params.id, into: body.into }, authorOf(caller), check);
    return conversationReply('team', row);
  },
});

/** Every operation that changes several conversations. */
export const conversationChangeRoutes = [updateConversations, mergeConversation];
