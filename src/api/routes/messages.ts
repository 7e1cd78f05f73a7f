import { z } from 'zod';
import { readEventText } from '../../domain/conversation-events.ts';
import { ReadHorizon, type Side } from '../../domain/conversations.ts';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { Message, MessagePatch, NewMessage } from '../../domain/messages.ts';
import { pageOf, pageQuery, queryIntOr } from '../../domain/pages.ts';
import { fieldFault } from '../../domain/problem.ts';
import type { MessageRow } from '../../storage/conversation-rows.ts';
import { changeMessage, insertMessage, listMessages as listMessageRows, markRead } from '../../storage/messages.ts';
import type { Participant } from '../caller.ts';
import { authorOf } from '../credentials/author.ts';
import { operation, reply } from '../operation.ts';
import { ConversationPath, ownerOf, sideOfCaller } from './views/conversations.ts';

const MessagePath = z.object({ id: typeId('conversation'), message_id: typeId('message') });

/** Returns the address of a message, within the caller's view. */
const addressOf = (params: z.output<typeof MessagePath>, caller: Participant) => ({
  conversationId: params.id,
  messageId: params.message_id,
  owner: ownerOf(caller),
});

const eventOf = ({ kind, event, body, author_type: type, author_id: id }: MessageRow) =>
  kind === 'event' ? (event ?? readEventText(body, { type, id })) : null;

/** A message as one side sees it. Users see the name of a team author, but no ids of the team. */
const presentMessage = (side: Side) => (row: MessageRow) => ({
  id: toTypeId('message', row.id),
  conversation_id: toTypeId('conversation', row.conversation_id),
  seq: row.note_seq > 0 ? row.note_seq : row.seq,
  author: {
    type: row.author_type,
    id: side === 'team' || row.author_type === 'user' ? row.author_id : null,
    name: row.author_name,
  },
  kind: row.kind,
  body: row.body,
  format: row.format,
  client_message_id: row.client_message_id,
  event: eventOf(row),
  created_at: row.created_at,
  edited_at: row.edited_at,
  redacted: row.redacted,
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
    after_seq: queryIntOr(0, 2_147_483_647, 0).meta({ description: 'Only messages after the reply with this `seq`' }),
    order: z.enum(['asc', 'desc']).default('asc').meta({ description: 'Oldest or newest message first' }),
  }),
  status: 200,
  response: pageOf(Message),
  async handle({ caller, params, query, after, page }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    const { after_seq: afterSeq, order, limit } = query;
    const paging = { afterSeq, newestFirst: order === 'desc', limit, after };
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
    'Repeating a `client_message_id` returns the first message with status 200, or 409 if the text differs. If a user writes to a conversation that was resolved more than 30 days ago, a new conversation is started; `conversation_id` and `Location` identify it.',
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:write',
  params: ConversationPath,
  body: NewMessage,
  status: 201,
  sends: ['Location'],
  response: Message,
  otherStatuses: { 200: 'Already created by an earlier request with the same `client_message_id`' },
  problems: ['message-conflict', 'conversation-deleted'],
  async handle({ caller, params, body }, { storage }) {
    if (caller.kind === 'access-token' && body.kind === 'note')
      throw fieldFault('/kind', 'not-allowed', 'Must be "reply" with an access token.');
    const tenant = storage.forTenant(caller.tenantId);
    const { message, created } = await insertMessage(tenant, params.id, ownerOf(caller), authorOf(caller), body);
    const path = `/v1/conversations/${toTypeId('conversation', message.conversation_id)}/messages/${toTypeId('message', message.id)}`;
    return reply({
      status: created ? 201 : 200,
      headers: { Location: path },
      body: presentMessage(sideOfCaller(caller))(message),
    });
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
  problems: ['message-not-editable'],
  async handle({ caller, params, body }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    const change = { body: body.body, format: body.format };
    const row = await changeMessage(tenant, addressOf(params, caller), authorOf(caller), change);
    return presentMessage(sideOfCaller(caller))(row);
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
  problems: ['message-not-editable'],
  async handle({ caller, params }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    await changeMessage(tenant, addressOf(params, caller), authorOf(caller), 'redact');
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
export const messageRoutes = [listMessages, createMessage, patchMessage, redactMessage, markConversationRead];
