import { z } from 'zod';
import { ReadHorizon } from '../../domain/conversations/conversations.ts';
import { presentMessage } from '../../domain/conversations/message-replies.ts';
import { Message, MessagePatch, NewMessage } from '../../domain/conversations/messages.ts';
import { MAX_INT32 } from '../../domain/documented.ts';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { pageOf, pageQuery, queryInt, queryIntOr } from '../../domain/pages.ts';
import { fieldFault } from '../../domain/problem.ts';
import type { MessageRow } from '../../storage/conversations/conversation-rows.ts';
import { changeMessage } from '../../storage/conversations/message-edits.ts';
import { findMessage, listMessages as listMessageRows } from '../../storage/conversations/message-lists.ts';
import { insertMessage, markRead } from '../../storage/conversations/messages.ts';
import type { Participant } from '../caller.ts';
import { authorOf } from '../credentials/author.ts';
import { operation, reply } from '../operation.ts';
import { ConversationPath, conversationMoved, ownerOf, sideOfCaller, teamOnly } from './presenters/conversations.ts';

const MessagePath = z.object({ id: typeId('conversation'), message_id: typeId('message') });

/** Returns the address of a message, within the caller's view. */
const addressOf = (params: z.output<typeof MessagePath>, caller: Participant) => ({
  conversationId: params.id,
  messageId: params.message_id,
  owner: ownerOf(caller),
});

export const listMessages = operation({
  id: 'listMessages',
  method: 'get',
  path: '/v1/conversations/{id}/messages',
  tag: 'Conversations',
  summary: 'List messages of a conversation',
  description:
    'Notes and events are visible only to the team and appear in chronological order. With `order=desc` the list starts with the newest message, and each further page goes back in time.',
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:read',
  params: ConversationPath,
  query: z.object({
    ...pageQuery,
    after_seq: queryIntOr(0, MAX_INT32, 0).meta({ description: 'Only messages after the reply with this `seq`' }),
    after_note_seq: queryInt(0, MAX_INT32).optional().meta({
      description:
        'Team only: together with `after_seq`, only replies after that one, and only notes and events after this one',
    }),
    order: z.enum(['asc', 'desc']).default('asc').meta({ description: 'Oldest or newest message first' }),
  }),
  status: 200,
  response: pageOf(Message),
  async handle({ caller, params, query, after, page }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    const { after_seq: afterSeq, after_note_seq: afterNoteSeq, order, limit } = query;
    if (caller.kind === 'access-token' && afterNoteSeq !== undefined) throw teamOnly(['after_note_seq']);
    const paging = { afterSeq, afterNoteSeq, newestFirst: order === 'desc', limit, after };
    const rows = await listMessageRows(tenant, params.id, ownerOf(caller), paging);
    return page(rows, presentMessage(sideOfCaller(caller)));
  },
});

export const createMessage = operation({
  id: 'createMessage',
  method: 'post',
  path: '/v1/conversations/{id}/messages',
  tag: 'Conversations',
  summary: 'Create a message',
  description:
    'With `after`, nothing is written if somebody has written a reply or a note since: 409 `conversation-moved` contains the newest of them in `missed`, and `force` writes anyway. Repeating a `client_message_id` returns the first message with status 200, or 409 if the text differs. A message to a conversation that was deleted within 30 days is 410. If a user writes to a conversation that was resolved more than 30 days ago, a new conversation is started; `conversation_id` and `Location` identify it. A reply of a user that would open one more than they can have is 409 `limit-reached`.',
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:write',
  params: ConversationPath,
  body: NewMessage,
  status: 201,
  sends: ['Location'],
  response: Message,
  etag: true,
  otherStatuses: { 200: 'Already created by an earlier request with the same `client_message_id`' },
  problems: ['message-conflict', 'conversation-moved', 'conversation-deleted', 'limit-reached'],
  async handle({ caller, params, body }, { storage, metrics }) {
    if (caller.kind === 'access-token') refuseTeamFields(body);
    const tenant = storage.forTenant(caller.tenantId);
    const added = await insertMessage(tenant, params.id, ownerOf(caller), authorOf(caller), body);
    if ('missed' in added) throw conversationMoved(added.missed);
    const { message, created, firstReplySeconds } = added;
    const path = `/v1/conversations/${toTypeId('conversation', message.conversation_id)}/messages/${toTypeId('message', message.id)}`;
    return reply({
      status: created ? 201 : 200,
      headers: { Location: path },
      body: presentMessage(sideOfCaller(caller))(message),
      announce: () => {
        if (firstReplySeconds !== null) metrics.firstReply.observe(firstReplySeconds);
      },
    });
  },
});

function refuseTeamFields({ kind, after, force, mentions }: NewMessage): void {
  if (kind === 'note') throw fieldFault('/kind', 'not-allowed', 'Must be "reply" with an access token.');
  for (const [field, value] of Object.entries({ after, force, mentions: mentions?.length ? mentions : undefined }))
    if (value !== undefined)
      throw fieldFault(`/${field}`, 'not-allowed', 'Must be omitted with an access token: only for the team.');
}

export const readMessage = operation({
  id: 'readMessage',
  method: 'get',
  path: '/v1/conversations/{id}/messages/{message_id}',
  tag: 'Conversations',
  summary: 'Get a message',
  description: 'Notes and events are visible only to the team.',
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:read',
  params: MessagePath,
  status: 200,
  response: Message,
  etag: true,
  async handle({ caller, params }, { storage }) {
    const message = await findMessage(storage.forTenant(caller.tenantId), addressOf(params, caller));
    return presentMessage(sideOfCaller(caller))(message);
  },
});

export const patchMessage = operation({
  id: 'patchMessage',
  method: 'patch',
  path: '/v1/conversations/{id}/messages/{message_id}',
  tag: 'Conversations',
  summary: 'Edit your own message, within 15 minutes',
  description: 'Only the author can edit a message. The message then carries `edited_at`.',
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:write',
  audit: 'message.updated',
  params: MessagePath,
  body: MessagePatch,
  status: 200,
  response: Message,
  ifMatch: true,
  etag: true,
  problems: ['message-not-editable'],
  async handle({ caller, params, body, requireMatch }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    const change = { body: body.body, format: body.format };
    const present = presentMessage(sideOfCaller(caller));
    const check = (before: MessageRow) => requireMatch(present(before));
    const { message } = await changeMessage(tenant, addressOf(params, caller), authorOf(caller), change, check);
    return present(message);
  },
});

export const redactMessage = operation({
  id: 'redactMessage',
  method: 'delete',
  path: '/v1/conversations/{id}/messages/{message_id}',
  tag: 'Conversations',
  summary: 'Redact your own message: removes its text but keeps the message',
  description:
    'The message stays in the conversation with its `seq`, `redacted` is true, and its text is removed for everyone.',
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:write',
  audit: 'message.redacted',
  params: MessagePath,
  status: 204,
  ifMatch: true,
  problems: ['message-not-editable'],
  async handle({ caller, params, requireMatch }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    const check = (before: MessageRow) => requireMatch(presentMessage(sideOfCaller(caller))(before));
    const { isChanged } = await changeMessage(tenant, addressOf(params, caller), authorOf(caller), 'redact', check);
    return reply({ status: 204, unchanged: !isChanged });
  },
});

export const markConversationRead = operation({
  id: 'markConversationRead',
  method: 'put',
  path: '/v1/conversations/{id}/read',
  tag: 'Conversations',
  summary: 'Mark messages as read',
  description: 'Sets the read horizon of the side of the caller. A lower `seq` than the current one is ignored.',
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:write',
  params: ConversationPath,
  body: ReadHorizon,
  status: 204,
  async handle({ caller, params, body }, { storage }) {
    await markRead(storage.forTenant(caller.tenantId), params.id, ownerOf(caller), sideOfCaller(caller), body.seq);
  },
});

/** Every operation on the messages of a conversation. */
export const messageRoutes = [
  listMessages,
  createMessage,
  readMessage,
  patchMessage,
  redactMessage,
  markConversationRead,
];
