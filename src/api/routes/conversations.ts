import { z } from 'zod';
import {
  Conversation,
  ConversationPatch,
  ConversationPriority,
  ConversationStatus,
  Message,
  MessagePatch,
  NewConversation,
  NewMessage,
  ReadHorizon,
  type Side,
} from '../../domain/conversations.ts';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { pageOf, pageQuery, queryBoolean, queryInt } from '../../domain/pages.ts';
import { fieldFault, Problem } from '../../domain/problem.ts';
import { Identity, SEARCHED, SearchWords, Tag, Timestamp } from '../../domain/text.ts';
import {
  CONVERSATION_SORTS,
  type ConversationRow,
  changeMessage,
  countUnread,
  deleteConversation,
  findConversation,
  insertConversation,
  insertMessage,
  listConversations,
  listMessages,
  type MessageRow,
  markRead,
  type Owner,
  updateConversation,
} from '../../storage/conversations.ts';
import { isTeam, type Participant } from '../caller.ts';
import { authorOf } from '../credentials/author.ts';
import { operation, reply } from '../operation.ts';
import { withUpdatedUntil } from '../watch/incremental-reads.ts';

const ConversationPath = z.object({ id: typeId('conversation') });
const MessagePath = z.object({ id: typeId('conversation'), message_id: typeId('message') });

const sideOfCaller = (caller: Participant): Side => (isTeam(caller) ? 'team' : 'user');

/** Whose conversations a caller sees: everybody's as the team, one's own with an access token. */
const ownerOf = (caller: Participant): Owner | undefined =>
  isTeam(caller) ? undefined : { identity: caller.identity, verified: caller.verified };

/** A conversation as one side sees it: the user without the team's fields, and with its own unread count. */
const presentConversation = (side: Side) => (row: ConversationRow) => ({
  id: toTypeId('conversation', row.id),
  identity: row.identity,
  identity_verified: row.identity_verified,
  subject: row.subject,
  status: row.status,
  ...(side === 'team'
    ? {
        priority: row.priority,
        assignee_id: row.assignee_id && toTypeId('member', row.assignee_id),
        tags: row.tags,
      }
    : {}),
  source: { type: row.source_type },
  last_message: {
    seq: row.last_seq,
    preview: row.last_preview,
    author_type: row.last_author_type,
    at: row.last_activity_at,
  },
  message_count: row.last_seq,
  unread_count: row[`${side}_unread`],
  waiting_since: row.waiting_since,
  first_reply_at: row.first_reply_at,
  resolved_at: row.resolved_at,
  previous_id: row.previous_id && toTypeId('conversation', row.previous_id),
  created_at: row.created_at,
  updated_at: side === 'team' ? row.team_updated_at : row.updated_at,
  last_activity_at: row.last_activity_at,
});

/** A message as one side sees it: a user is told the name of who of the team wrote it, and no ids of the team. */
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
  created_at: row.created_at,
  edited_at: row.edited_at,
  redacted: row.redacted,
});

const TEAM_FILTERS = ['identity', 'verified', 'assignee', 'tag', 'priority', 'source', 'q', 'sort'] as const;

const Assignee = z.union([z.literal('none'), typeId('member')]).meta({ description: '`none`: nobody has it' });

const listConversationsOperation = operation({
  id: 'listConversations',
  method: 'get',
  path: '/v1/conversations',
  tag: 'Conversations',
  summary: 'List conversations, newest activity first',
  description:
    'With an API key those of the tenant; with an access token those of its identity, without the fields and filters of the team. With `updated_since` in the order of their last change: once `has_more` is false, every change before the time in the header `Updated-Until` was in the walk.',
  credentials: ['api-key', 'access-token', 'session'],
  right: 'conversations:read',
  query: z.object({
    ...pageQuery,
    status: ConversationStatus.optional(),
    unread: queryBoolean.optional().meta({ description: "For the caller's side" }),
    updated_since: Timestamp.optional(),
    identity: Identity.optional(),
    verified: queryBoolean.optional(),
    assignee: Assignee.optional(),
    tag: Tag.optional(),
    priority: ConversationPriority.optional(),
    source: z.enum(['user', 'api', 'member']).optional(),
    q: SearchWords.optional().meta({
      description: `Of the subject, or of one message or note: ${SEARCHED}`,
    }),
    sort: z.enum(CONVERSATION_SORTS).optional(),
  }),
  status: 200,
  response: pageOf(Conversation),
  async handle({ caller, query, after, page }, { storage, incrementalReads }) {
    const { updated_since, limit, ...filter } = query;
    if (caller.kind === 'access-token') refuseTeamFilters(filter);
    const side = sideOfCaller(caller);
    const updated = await incrementalReads.open(updated_since);
    const rows = await listConversations(
      storage.forTenant(caller.tenantId),
      { ...filter, ...ownerOf(caller), side, updated },
      limit,
      after,
    );
    return withUpdatedUntil(page(rows, presentConversation(side)), updated);
  },
});

function refuseTeamFilters(filter: Record<string, unknown>): void {
  const used = TEAM_FILTERS.filter(name => filter[name] !== undefined);
  if (used.length === 0) return;
  throw new Problem('unknown-parameter', 'The query has a parameter that is for the team alone.', {
    errors: used.map(pointer => ({ pointer, code: 'unknown-parameter', detail: 'is not known with an access token' })),
  });
}

const createConversation = operation({
  id: 'createConversation',
  method: 'post',
  path: '/v1/conversations',
  tag: 'Conversations',
  summary: 'Start a conversation',
  description: 'The same `client_message_id` again gives the first conversation, with status 200.',
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:write',
  body: NewConversation,
  status: 201,
  response: Conversation,
  async handle({ caller, body }, { storage }) {
    const owner = ownerOf(caller) ?? ownerFromBody(body.identity);
    if (caller.kind === 'access-token' && body.identity !== undefined)
      throw fieldFault('/identity', 'is not sent with an access token, which names the user');
    const start = { subject: body.subject ?? '', message: body.message, client_message_id: body.client_message_id };
    const { conversation, created } = await insertConversation(
      storage.forTenant(caller.tenantId),
      owner,
      authorOf(caller),
      start,
    );
    return reply({
      status: created ? 201 : 200,
      headers: { Location: `/v1/conversations/${toTypeId('conversation', conversation.id)}` },
      body: presentConversation(sideOfCaller(caller))(conversation),
    });
  },
});

function ownerFromBody(identity: string | undefined): Owner {
  if (identity === undefined) throw fieldFault('/identity', 'must name the user when an API key starts a conversation');
  return { identity, verified: true };
}

const readConversation = operation({
  id: 'readConversation',
  method: 'get',
  path: '/v1/conversations/{id}',
  tag: 'Conversations',
  summary: 'Read a conversation',
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:read',
  params: ConversationPath,
  status: 200,
  response: Conversation,
  etag: true,
  async handle({ caller, params }, { storage }) {
    const row = await findConversation(storage.forTenant(caller.tenantId), params.id, ownerOf(caller));
    return presentConversation(sideOfCaller(caller))(row);
  },
});

const patchConversation = operation({
  id: 'patchConversation',
  method: 'patch',
  path: '/v1/conversations/{id}',
  tag: 'Conversations',
  summary: 'Change status, assignee, tags, priority or subject',
  description: 'With an access token `{"status": "resolved"}` alone.',
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:write',
  audit: 'conversation.updated',
  params: ConversationPath,
  body: ConversationPatch,
  status: 200,
  response: Conversation,
  problems: ['invalid-transition', 'precondition-failed'],
  async handle({ caller, params, body, requireMatch }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    if (caller.kind === 'access-token') refuseTeamChanges(body);
    const present = presentConversation(sideOfCaller(caller));
    const row = await updateConversation(tenant, params.id, ownerOf(caller), authorOf(caller), body, before =>
      requireMatch(present(before)),
    );
    return present(row);
  },
});

function refuseTeamChanges(body: ConversationPatch): void {
  const foreign = Object.keys(body).filter(name => name !== 'status');
  if (foreign.length > 0) throw fieldFault(`/${foreign[0]}`, 'is for the team alone');
  if (body.status !== undefined && body.status !== 'resolved')
    throw fieldFault('/status', 'a user may set "resolved" alone');
}

const removeConversation = operation({
  id: 'deleteConversation',
  method: 'delete',
  path: '/v1/conversations/{id}',
  tag: 'Conversations',
  summary: 'Delete a conversation with its messages',
  credentials: ['api-key', 'session'],
  right: 'conversations:delete',
  audit: 'conversation.deleted',
  params: ConversationPath,
  status: 204,
  problems: ['precondition-failed'],
  async handle({ caller, params, requireMatch }, { storage }) {
    await deleteConversation(storage.forTenant(caller.tenantId), params.id, row =>
      requireMatch(presentConversation('team')(row)),
    );
  },
});

const listMessagesOperation = operation({
  id: 'listMessages',
  method: 'get',
  path: '/v1/conversations/{id}/messages',
  tag: 'Conversations',
  summary: 'List the messages of a conversation, oldest first',
  description: 'Notes and events of the team appear to the team alone, where they were written.',
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:read',
  params: ConversationPath,
  query: z.object({
    ...pageQuery,
    after_seq: queryInt(0, 2_147_483_647).default(0).meta({ description: 'Only what follows the reply of this `seq`' }),
  }),
  status: 200,
  response: pageOf(Message),
  async handle({ caller, params, query, after, page }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    const rows = await listMessages(tenant, params.id, ownerOf(caller), query.after_seq, query.limit, after);
    return page(rows, presentMessage(sideOfCaller(caller)));
  },
});

const createMessage = operation({
  id: 'createMessage',
  method: 'post',
  path: '/v1/conversations/{id}/messages',
  tag: 'Conversations',
  summary: 'Write a message',
  description:
    'The same `client_message_id` again gives the first message, with status 200. A user who writes to a conversation resolved more than 30 days ago starts a new one: `conversation_id` and `Location` name it.',
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:write',
  params: ConversationPath,
  body: NewMessage,
  status: 201,
  response: Message,
  async handle({ caller, params, body }, { storage }) {
    if (caller.kind === 'access-token' && body.kind === 'note')
      throw fieldFault('/kind', 'a user writes replies alone');
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

const patchMessage = operation({
  id: 'patchMessage',
  method: 'patch',
  path: '/v1/conversations/{id}/messages/{message_id}',
  tag: 'Conversations',
  summary: "Edit one's own message, for 15 minutes",
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
    const row = await changeMessage(tenant, params.id, params.message_id, ownerOf(caller), authorOf(caller), change);
    return presentMessage(sideOfCaller(caller))(row);
  },
});

const redactMessage = operation({
  id: 'redactMessage',
  method: 'delete',
  path: '/v1/conversations/{id}/messages/{message_id}',
  tag: 'Conversations',
  summary: "Redact one's own message: its place stays, its text goes",
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:write',
  audit: 'message.redacted',
  params: MessagePath,
  status: 204,
  problems: ['message-not-editable'],
  async handle({ caller, params }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    await changeMessage(tenant, params.id, params.message_id, ownerOf(caller), authorOf(caller), 'redact');
  },
});

const markConversationRead = operation({
  id: 'markConversationRead',
  method: 'put',
  path: '/v1/conversations/{id}/read',
  tag: 'Conversations',
  summary: "Move the read horizon of one's side",
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:write',
  params: ConversationPath,
  body: ReadHorizon,
  status: 204,
  async handle({ caller, params, body }, { storage }) {
    await markRead(storage.forTenant(caller.tenantId), params.id, ownerOf(caller), sideOfCaller(caller), body.seq);
  },
});

const countUnreadConversations = operation({
  id: 'countUnreadConversations',
  method: 'get',
  path: '/v1/conversations/unread-count',
  tag: 'Conversations',
  summary: 'Count the conversations with something unread',
  credentials: ['access-token', 'session'],
  right: 'conversations:read',
  query: z.object({ assignee: Assignee.optional().meta({ description: 'For the team alone: those of one member' }) }),
  status: 200,
  response: z.object({ count: z.int() }).meta({ id: 'UnreadCount' }),
  etag: true,
  async handle({ caller, query }, { storage }) {
    if (caller.kind === 'access-token') refuseTeamFilters(query);
    const tenant = storage.forTenant(caller.tenantId);
    return { count: await countUnread(tenant, sideOfCaller(caller), ownerOf(caller), query.assignee) };
  },
});

/** Every operation on conversations; a fixed path stands before a pattern. */
export const conversationRoutes = [
  countUnreadConversations,
  listConversationsOperation,
  createConversation,
  readConversation,
  patchConversation,
  removeConversation,
  listMessagesOperation,
  createMessage,
  patchMessage,
  redactMessage,
  markConversationRead,
];
