import { z } from 'zod';
import { ConversationPatch, checkSnooze } from '../../domain/conversations/conversation-changes.ts';
import { Assignee, ConversationSort, conversationFilters } from '../../domain/conversations/conversation-filters.ts';
import { presentConversation } from '../../domain/conversations/conversation-replies.ts';
import {
  Conversation,
  ConversationPage,
  describeTransitions,
  MAX_ACTIVE_OF_USER,
  NewConversation,
  type Side,
} from '../../domain/conversations/conversations.ts';
import { countSchema, MAX_COUNTED } from '../../domain/conversations/views.ts';
import { toTypeId } from '../../domain/ids.ts';
import { CHANGED_SINCE, pageQuery, queryBoolean, valuesIn } from '../../domain/pages.ts';
import { fieldFault, Problem, queryFault } from '../../domain/problem.ts';
import { Timestamp } from '../../domain/text.ts';
import { updateConversation } from '../../storage/conversations/conversation-changes.ts';
import {
  countUnread,
  listConversations as listConversationRows,
} from '../../storage/conversations/conversation-lists.ts';
import type { ConversationRow, Owner } from '../../storage/conversations/conversation-rows.ts';
import { insertConversation } from '../../storage/conversations/conversation-starts.ts';
import { type ConversationTombstone, listWithTombstones } from '../../storage/conversations/conversation-tombstones.ts';
import {
  deleteConversation as deleteConversationRow,
  findConversation,
} from '../../storage/conversations/conversations.ts';
import type { Participant } from '../caller.ts';
import { authorOf } from '../credentials/author.ts';
import { type OperationReply, operation } from '../operation.ts';
import { withUpdatedUntil } from '../watch/incremental-reads.ts';
import {
  ConversationPath,
  conversationReply,
  conversationTag,
  mentionedFilter,
  ownerOf,
  sideOfCaller,
  teamOnly,
} from './presenters/conversations.ts';

const TEAM_FILTERS = [
  'identity',
  'verified',
  'assignee',
  'tag',
  'priority',
  'source',
  'overdue',
  'mentioned',
  'q',
  'sort',
] as const;

export const listConversations = operation({
  id: 'listConversations',
  method: 'get',
  path: '/v1/conversations',
  tag: 'Conversations',
  summary: 'List conversations, most recent activity first',
  description:
    'With an API key or a session, lists all conversations of the tenant; with an access token, only those of its identity, without the team-only fields and filters. With `updated_since`, conversations are ordered by their last change: once `has_more` is false, all changes before the time in the `Updated-Until` header have been returned.',
  credentials: ['api-key', 'access-token', 'session'],
  right: 'conversations:read',
  query: z.object({
    ...pageQuery,
    ...conversationFilters(queryBoolean),
    updated_since: Timestamp.optional().meta({ description: CHANGED_SINCE }),
    deleted: queryBoolean.optional().meta({
      description: 'Whether the reply also lists deleted conversations, in `deleted`; only with `updated_since`',
    }),
    sort: ConversationSort.optional().meta({
      description:
        'Order of the list, not allowed with `updated_since`; `-` is descending. Default: `-last_activity_at`. With `reply_due_at`, the list contains only conversations whose user waits for a reply with a target; with `waiting_since`, only open conversations whose user waits',
    }),
  }),
  status: 200,
  response: ConversationPage,
  async handle({ caller, query, after, page }, { storage, incrementalReads }) {
    const { updated_since, deleted, limit, ...sent } = query;
    if (caller.kind === 'access-token') refuseTeamFilters(sent);
    const filter = { ...sent, mentioned: mentionedBy(caller, sent.mentioned) };
    const side = sideOfCaller(caller);
    const updated = await incrementalReads.open(updated_since);
    const tenant = storage.forTenant(caller.tenantId);
    const filters = { ...filter, ...ownerOf(caller), side };
    if (deleted && !updated)
      throw queryFault('updated_since', 'required', 'Required with "deleted": an RFC 3339 time.');
    if (query.sort && updated)
      throw queryFault('sort', 'not-allowed', 'Must be omitted with "updated_since", which orders by the last change.');
    if (deleted && updated)
      return withUpdatedUntil(
        separateDeleted(
          page(await listWithTombstones(tenant, { ...filters, updated }, limit, after), presentOrTombstone(side)),
        ),
        updated,
      );
    const rows = await listConversationRows(tenant, { ...filters, updated }, limit, after);
    return withUpdatedUntil(page(rows, presentConversation(side)), updated);
  },
});

function mentionedBy(caller: Participant, isMentioned: boolean | undefined) {
  if (isMentioned === undefined) return undefined;
  if (caller.kind === 'session') return mentionedFilter(caller.memberId, isMentioned);
  throw new Problem('unknown-parameter', 'The query has a parameter that is only available to members.', {
    errors: [
      {
        parameter: 'mentioned',
        code: 'unknown-parameter',
        detail: 'Only available with a session. Remove it.',
      },
    ],
  });
}

const presentOrTombstone = (side: Side) => (row: ConversationRow | ConversationTombstone) =>
  'deleted_at' in row
    ? { id: toTypeId('conversation', row.id), deleted_at: row.deleted_at }
    : presentConversation(side)(row);

/** Moves tombstones from `data` into `deleted`. */
function separateDeleted(reply: OperationReply): OperationReply {
  const { data, ...page } = reply.body as { data: object[] };
  const isDeleted = (item: object) => 'deleted_at' in item;
  reply.body = { ...page, data: data.filter(item => !isDeleted(item)), deleted: data.filter(isDeleted) };
  return reply;
}

function refuseTeamFilters(filter: Record<string, unknown> & { status?: string | undefined }): void {
  const used = TEAM_FILTERS.filter(name => filter[name] !== undefined);
  if (valuesIn(filter.status ?? '').includes('snoozed'))
    throw queryFault('status', 'unknown-value', 'Must be "open", "pending" or "resolved" with an access token.');
  if (used.length > 0) throw teamOnly(used);
}

export const createConversation = operation({
  id: 'createConversation',
  method: 'post',
  path: '/v1/conversations',
  tag: 'Conversations',
  summary: 'Start a conversation',
  description: `Repeating a \`client_message_id\` returns the first conversation with status 200, 409 if the text differs, or 410 if the conversation was deleted. With an access token, a user who has ${MAX_ACTIVE_OF_USER} open and pending conversations gets 409 \`limit-reached\`.`,
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:write',
  body: NewConversation,
  status: 201,
  sends: ['Location'],
  response: Conversation,
  etag: true,
  otherStatuses: { 200: 'Already created by an earlier request with the same `client_message_id`' },
  problems: ['message-conflict', 'conversation-deleted', 'limit-reached'],
  async handle({ caller, body }, { storage }) {
    const owner = ownerOf(caller) ?? ownerFromBody(body.identity);
    if (caller.kind === 'access-token' && body.identity !== undefined)
      throw fieldFault('/identity', 'not-allowed', 'Must be omitted with an access token, which identifies the user.');
    const start = { subject: body.subject ?? '', message: body.message, client_message_id: body.client_message_id };
    const { conversation, created } = await insertConversation(
      storage.forTenant(caller.tenantId),
      owner,
      authorOf(caller),
      start,
    );
    return conversationReply(sideOfCaller(caller), conversation, {
      status: created ? 201 : 200,
      headers: { Location: `/v1/conversations/${toTypeId('conversation', conversation.id)}` },
    });
  },
});

function ownerFromBody(identity: string | undefined): Owner {
  if (identity === undefined)
    throw fieldFault(
      '/identity',
      'required',
      'Required with an API key or a session: the id of the user, such as "user|42".',
    );
  return { identity, verified: true };
}

export const readConversation = operation({
  id: 'readConversation',
  method: 'get',
  path: '/v1/conversations/{id}',
  tag: 'Conversations',
  summary: 'Get a conversation',
  description:
    'A user sees only their own conversations, without the fields of the team. `If-None-Match` compares the whole reply, with `unread_count`. `If-Match` ignores read horizons: a change is refused only if a field that it can set has changed, which replies between `open` and `pending` do not count as, and a deletion also after a message or note.',
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:read',
  params: ConversationPath,
  status: 200,
  response: Conversation,
  etag: true,
  async handle({ caller, params }, { storage }) {
    const row = await findConversation(storage.forTenant(caller.tenantId), params.id, ownerOf(caller));
    return conversationReply(sideOfCaller(caller), row);
  },
});

export const patchConversation = operation({
  id: 'patchConversation',
  method: 'patch',
  path: '/v1/conversations/{id}',
  tag: 'Conversations',
  summary: 'Update status, assignee, tags, priority or subject',
  description: `Fields that are not sent keep their values, also if somebody else changes them at the same time. With \`was\`, the change is refused if one of these fields has changed meanwhile. Each change is recorded as an event. The status can be set ${describeTransitions()}. With an access token, only \`{"status": "resolved"}\` is allowed.`,
  credentials: ['access-token', 'api-key', 'session'],
  right: 'conversations:write',
  audit: 'conversation.updated',
  params: ConversationPath,
  body: ConversationPatch,
  status: 200,
  response: Conversation,
  problems: ['invalid-transition', 'conversation-changed'],
  ifMatch: true,
  etag: true,
  async handle({ caller, params, body, receivedAt, requireTag }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    if (caller.kind === 'access-token') refuseTeamChanges(body);
    checkSnooze(body.snoozed_until, receivedAt);
    const side = sideOfCaller(caller);
    const row = await updateConversation(
      tenant,
      { id: params.id, owner: ownerOf(caller) },
      authorOf(caller),
      body,
      before => requireTag(conversationTag(side, before), 'settings'),
    );
    return conversationReply(side, row);
  },
});

function refuseTeamChanges(body: ConversationPatch): void {
  const { status, add_tags, remove_tags, ...others } = body;
  const lists = Object.entries({ add_tags, remove_tags }).filter(([, tags]) => tags && tags.length > 0);
  const foreign = [...lists.map(([name]) => name), ...Object.keys(others)];
  if (foreign.length > 0)
    throw fieldFault(
      `/${foreign[0]}`,
      'not-allowed',
      'Can only be set by the team. An access token can only set "status" to "resolved".',
    );
  if (status !== undefined && status !== 'resolved')
    throw fieldFault('/status', 'not-allowed', 'Must be "resolved" with an access token.');
}

export const deleteConversation = operation({
  id: 'deleteConversation',
  method: 'delete',
  path: '/v1/conversations/{id}',
  tag: 'Conversations',
  summary: 'Delete a conversation with its messages',
  description:
    'Deletes the conversation permanently for both sides, with all messages and notes. Conversations that were merged into it are no longer merged.',
  credentials: ['api-key', 'session'],
  right: 'conversations:delete',
  audit: 'conversation.deleted',
  params: ConversationPath,
  status: 204,
  ifMatch: true,
  async handle({ caller, params, requireTag }, { storage }) {
    const check = (row: ConversationRow) => requireTag(conversationTag('team', row), 'content');
    await deleteConversationRow(storage.forTenant(caller.tenantId), params.id, check, authorOf(caller));
  },
});

export const countUnreadConversations = operation({
  id: 'countUnreadConversations',
  method: 'get',
  path: '/v1/conversations/unread-count',
  tag: 'Conversations',
  summary: 'Count conversations with unread messages',
  description:
    'Counts for the side of the caller: the team, or the user of the token. With `If-None-Match`, an unchanged count returns 304.',
  credentials: ['access-token', 'session'],
  right: 'conversations:read',
  query: z.object({
    assignee: Assignee.optional().meta({ description: 'Team only: count the conversations of this member' }),
  }),
  status: 200,
  response: countSchema('UnreadCount', `Whether there are more than ${MAX_COUNTED}`),
  etag: true,
  async handle({ caller, query }, { storage }) {
    if (caller.kind === 'access-token') refuseTeamFilters(query);
    const tenant = storage.forTenant(caller.tenantId);
    return await countUnread(tenant, sideOfCaller(caller), ownerOf(caller), query.assignee);
  },
});

/** Every operation on conversations; a fixed path stands before a pattern. */
export const conversationRoutes = [
  countUnreadConversations,
  listConversations,
  createConversation,
  readConversation,
  patchConversation,
  deleteConversation,
];
