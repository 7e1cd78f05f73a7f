import {
  type AuthorType,
  type ConversationPatch,
  type ConversationPriority,
  type ConversationStatus,
  MESSAGE_EDIT_MINUTES,
  PREVIEW_LENGTH,
  REOPEN_DAYS,
  type Side,
  sideOf,
  statusAfterReply,
} from '../domain/conversations.ts';
import { newUuid, toTypeId } from '../domain/ids.ts';
import { type Page, toPage } from '../domain/pages.ts';
import { fieldFault, notFound, Problem } from '../domain/problem.ts';
import { isUniqueViolation } from './errors.ts';
import { createList, type List, queryInOrder, readPage, readPageOf } from './lists.ts';
import type { TenantStorage } from './orm.ts';
import {
  CONVERSATION_LIMITS,
  findConversations,
  type SearchableList,
  type SearchLimits,
  searchPage,
  whereUnindexedWords,
} from './search.ts';
import { indexMessages, KEEP_WORDS } from './search-index.ts';
import { createWhere, unnest, type Where } from './sql.ts';
import type { Session } from './transaction.ts';

export interface ConversationRow {
  id: string;
  identity: string;
  identity_verified: boolean;
  subject: string;
  status: ConversationStatus;
  priority: ConversationPriority;
  assignee_id: string | null;
  tags: string[];
  source_type: 'user' | 'api' | 'member';
  last_seq: number;
  last_note_seq: number;
  last_preview: string;
  last_author_type: AuthorType;
  user_read_seq: number;
  team_read_seq: number;
  user_unread: number;
  team_unread: number;
  waiting_since: Date | null;
  first_reply_at: Date | null;
  resolved_at: Date | null;
  previous_id: string | null;
  created_at: Date;
  updated_at: Date;
  team_updated_at: Date;
  last_activity_at: Date;
}

export interface MessageRow {
  id: string;
  conversation_id: string;
  seq: number;
  note_seq: number;
  kind: 'reply' | 'note' | 'event';
  author_type: AuthorType;
  author_id: string | null;
  /** As it was when the message was written; members alone have one. */
  author_name: string | null;
  body: string;
  format: 'text' | 'markdown';
  client_message_id: string | null;
  created_at: Date;
  edited_at: Date | null;
  redacted: boolean;
}

/** Who writes: a user by identity, an API key by its id, a member by id and name. */
export interface Author {
  type: AuthorType;
  id: string;
  name: string | null;
}

/** Whose conversations are meant: everybody's for the team, one proven or claimed identity's for a user. */
export interface Owner {
  identity: string;
  verified: boolean;
}

export interface MessageContent {
  body: string;
  format: 'text' | 'markdown';
  kind: 'reply' | 'note';
  client_message_id?: string | undefined;
}

const COLUMNS = `id, identity, identity_verified, subject, status, priority, assignee_id, tags, source_type, last_seq,
  last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread, team_unread, waiting_since,
  first_reply_at, resolved_at, previous_id, created_at, updated_at, team_updated_at, last_activity_at`;
const MESSAGE_COLUMNS =
  'id, conversation_id, seq, note_seq, kind, author_type, author_id, author_name, body, format, client_message_id, created_at, edited_at, redacted';

/** The database's clock, read once the transaction can be seen as an open write (`oldest_open_write`). */
async function openWrite(session: Session): Promise<Date> {
  const rows = await session.query<{ now: Date }>(
    `select pg_current_xact_id(), clock_timestamp()::timestamptz(3) as now, ${KEEP_WORDS}`,
  );
  return rows[0]?.now as Date;
}

const belongsTo = (row: ConversationRow, owner: Owner | undefined): boolean =>
  !owner || (row.identity === owner.identity && row.identity_verified === owner.verified);

async function readConversation(
  session: Pick<TenantStorage, 'query'>,
  tenantId: string,
  id: string,
  owner: Owner | undefined,
  lock = '',
): Promise<ConversationRow> {
  const rows = await session.query<ConversationRow>(
    `select ${COLUMNS} from conversations where tenant_id = $1 and id = $2 ${lock}`,
    [tenantId, id],
  );
  if (!rows[0] || !belongsTo(rows[0], owner)) throw notFound('conversation');
  return rows[0];
}

export const findConversation = (tenant: TenantStorage, id: string, owner: Owner | undefined) =>
  readConversation(tenant, tenant.tenantId, id, owner);

export interface ConversationFilter {
  side: Side;
  status?: ConversationStatus | undefined;
  identity?: string | undefined;
  verified?: boolean | undefined;
  /** `none` for conversations that nobody has. */
  assignee?: string | undefined;
  tag?: string | undefined;
  priority?: ConversationPriority | undefined;
  source?: ConversationRow['source_type'] | undefined;
  unread?: boolean | undefined;
  /** Words of the subject, of a message or a note. */
  q?: string | undefined;
  updated?: { since: Date; before: Date } | undefined;
  sort?: ConversationSort | undefined;
}

function whereAssignee(where: Where, assignee: string | undefined): void {
  if (assignee === 'none') where.and('assignee_id is null');
  else if (assignee) where.and('assignee_id = $', assignee);
}

/** A sort order by its name on the wire: the column, descending with a minus. */
export const CONVERSATION_SORTS = ['-last_activity_at', 'last_activity_at', '-created_at', 'created_at'] as const;
export type ConversationSort = (typeof CONVERSATION_SORTS)[number];

type SortColumn = 'last_activity_at' | 'created_at' | 'updated_at' | 'team_updated_at';

/** Of how many conversations with one value the ids are read in order to sort them. */
const MAX_SORTED = 2000;

/** Conversations, newest activity first, unless a `sort` or incremental reading (`updated`) says otherwise. */
export async function listConversations(
  tenant: TenantStorage,
  filter: ConversationFilter,
  limit: number,
  after: string[] | null,
  limits?: SearchLimits,
): Promise<Page<ConversationRow>> {
  const few = await findFew(tenant, filter);
  if (filter.q !== undefined)
    return searchPage(
      tenant,
      searchableConversations(tenant, filter, few, limits ?? CONVERSATION_LIMITS),
      filter.q,
      limit,
      after,
    );
  const list = conversationList(tenant, filter);
  return few ? readPageOf(tenant, list, few, limit, after) : readPage(tenant, list, limit, after, limits?.lookAt);
}

function sortOf({ updated, side, sort }: ConversationFilter): { column: SortColumn; descending: boolean } {
  if (updated) return { column: side === 'team' ? 'team_updated_at' : 'updated_at', descending: false };
  const name = sort ?? '-last_activity_at';
  return { column: name.replace('-', '') as SortColumn, descending: name.startsWith('-') };
}

const isOfOne = ({ identity, verified }: ConversationFilter): boolean =>
  identity !== undefined && verified !== undefined;

/** The filter with an index in the order of the list: of several the one that leaves the fewest rows. */
function indexedFilter(filter: ConversationFilter, column: SortColumn): keyof ConversationFilter | undefined {
  const { side, assignee, unread, tag, status } = filter;
  if (column === 'last_activity_at' || column === 'updated_at') if (isOfOne(filter)) return 'identity';
  if (column !== 'last_activity_at') return undefined;
  if (assignee && assignee !== 'none') return 'assignee';
  if (unread && side === 'team') return 'unread';
  if (tag) return 'tag';
  if (assignee) return 'assignee';
  return status ? 'status' : undefined;
}

function conversationList(tenant: TenantStorage, filter: ConversationFilter): List<ConversationRow> {
  const order = sortOf(filter);
  const indexed = indexedFilter(filter, order.column);
  const byNone = indexed === 'assignee' && filter.assignee === 'none';
  const list = createList<ConversationRow>(tenant, 'conversations', COLUMNS, {
    ...order,
    ...(byNone ? { nullColumn: 'assignee_id' } : {}),
  });
  const { access, filters } = list;
  const where = (name: keyof ConversationFilter) => (name === indexed ? access : filters);
  const { updated, side } = filter;
  if (updated) access.and(`${order.column} >= $ and ${order.column} < $`, updated.since, updated.before);
  if (filter.identity !== undefined) where('identity').and('identity = $', filter.identity);
  if (filter.verified !== undefined) where('identity').and('identity_verified = $', filter.verified);
  whereAssignee(where('assignee'), filter.assignee);
  if (filter.unread !== undefined) where('unread').and(`${side}_unread ${filter.unread ? '>' : '='} 0`);
  if (indexed === 'tag') access.and("tags <> '{}'"); // names the index of the few
  if (filter.tag) filters.and('$ = any(tags)', filter.tag);
  if (filter.status) where('status').and('status = $', filter.status);
  if (filter.priority) filters.and('priority = $', filter.priority);
  if (filter.source) filters.and('source_type = $', filter.source);
  return list;
}

/**
 * The ids of all conversations with a value that few have, where no index has them in the order of the list; undefined
 * where there is such a value, but too many have it, or there is none.
 */
async function findFew(tenant: TenantStorage, filter: ConversationFilter): Promise<string[] | undefined> {
  const { column } = sortOf(filter);
  if (filter.updated || indexedFilter(filter, column) === 'identity') return undefined;
  const where = createWhere();
  where.and('tenant_id = $', tenant.tenantId);
  if (filter.identity !== undefined) where.and('identity = $', filter.identity);
  else if (column === 'last_activity_at') return undefined;
  else if (filter.assignee && filter.assignee !== 'none') whereAssignee(where, filter.assignee);
  else if (filter.unread && filter.side === 'team') where.and('team_unread > 0');
  else return undefined;
  const rows = await queryInOrder<{ id: string }>(
    tenant,
    `select id from conversations ${where.sql} limit ${MAX_SORTED + 1}`,
    where.params,
  );
  return rows.length > MAX_SORTED ? undefined : rows.map(({ id }) => id);
}

const searchableConversations = (
  tenant: TenantStorage,
  filter: ConversationFilter,
  few: string[] | undefined,
  limits: SearchLimits,
): SearchableList<ConversationRow> => ({
  list: () => {
    const list = conversationList(tenant, filter);
    if (few) list.filters.and('id = any($::uuid[])', few);
    return list;
  },
  narrow: isOfOne(filter) || filter.updated !== undefined,
  kinds: ['message', 'subject'],
  limits,
  matches: `(select true from message_words where message_words.tenant_id = conversations.tenant_id
    and message_words.conversation_id = conversations.id and words @@ $::tsquery limit 1)`,
  filterUnindexed: ({ filters }, search) => whereUnindexedWords(filters, tenant, search),
  find: terms => findConversations(tenant, terms, limits.found),
});

/** How many conversations hold something that this side has not read; of the team's, those of one assignee. */
export async function countUnread(
  tenant: TenantStorage,
  side: Side,
  owner: Owner | undefined,
  assignee?: string,
): Promise<number> {
  const where = createWhere();
  where.and(`tenant_id = $ and ${side}_unread > 0`, tenant.tenantId);
  if (owner) where.and('identity = $ and identity_verified = $', owner.identity, owner.verified);
  whereAssignee(where, assignee);
  const rows = await tenant.query<{ count: number }>(
    `select count(*)::int as count from conversations ${where.sql}`,
    where.params,
  );
  return rows[0]?.count ?? 0;
}

export interface Started {
  conversation: ConversationRow;
  /** False when the same `client_message_id` had started it before. */
  created: boolean;
}

/** Starts a conversation with its first message; the same `client_message_id` again gives the first one. */
export async function insertConversation(
  tenant: TenantStorage,
  owner: Owner,
  author: Author,
  start: { subject: string; message: string; client_message_id?: string | undefined },
): Promise<Started> {
  const known = await findStarted(tenant, owner, author, start.client_message_id);
  if (known) return { conversation: known, created: false };
  try {
    const conversation = await tenant.transaction(async session => {
      const { message: body, ...rest } = start;
      const first = { body, format: 'text', client_message_id: start.client_message_id } as const;
      const started = await startConversation(session, tenant.tenantId, owner, author, { ...rest, first });
      return started.conversation;
    });
    return { conversation, created: true };
  } catch (error) {
    const winner = isUniqueViolation(error)
      ? await findStarted(tenant, owner, author, start.client_message_id)
      : undefined;
    if (winner) return { conversation: winner, created: false }; // the same request, sent twice at once
    throw error;
  }
}

const sourceOf = (author: Author): ConversationRow['source_type'] => (author.type === 'system' ? 'api' : author.type);

/** Who started a conversation, for its `client_message_id`; of a user's own, the identity says it already. */
const starterOf = (author: Author): string => (author.type === 'user' ? '' : author.id);

/** Rows of the version before have an empty `started_by`: the author of the first message started the conversation. */
async function findStarted(
  tenant: TenantStorage,
  owner: Owner,
  author: Author,
  clientMessageId: string | undefined,
): Promise<ConversationRow | undefined> {
  if (clientMessageId === undefined) return undefined;
  const rows = await tenant.query<ConversationRow>(
    `select ${COLUMNS} from conversations where tenant_id = $1 and identity = $2 and identity_verified = $3
     and source_type = $4 and client_message_id = $5 and (started_by = $6 or started_by = '' and exists (
       select from messages where tenant_id = $1 and conversation_id = conversations.id and seq = 1 and note_seq = 0
         and author_id = $7))`,
    [
      ...[tenant.tenantId, owner.identity, owner.verified, sourceOf(author), clientMessageId],
      ...[starterOf(author), author.id],
    ],
  );
  return rows[0];
}

type FirstMessage = Omit<MessageContent, 'kind'>;

/**
 * Inserts a conversation and its first message.
 *
 * The conversation keeps a `client_message_id` only when the client asked for a conversation: one that follows an old
 * one is found through its message, whose id may repeat that of a message elsewhere.
 */
async function startConversation(
  session: Session,
  tenantId: string,
  owner: Owner,
  author: Author,
  start: { subject: string; first: FirstMessage; client_message_id?: string | undefined; previous_id?: string },
): Promise<{ conversation: ConversationRow; message: MessageRow }> {
  const now = await openWrite(session);
  const side = sideOf(author.type);
  const id = newUuid();
  const rows = await session.query<ConversationRow>(
    `insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, tags, source_type,
       client_message_id, started_by, last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq,
       user_unread, team_unread, waiting_since, previous_id, created_at, updated_at, team_updated_at, last_activity_at)
     values ($1, $2, $3, $4, $5, 'open', 'none', '{}', $6, $7, $8, 1, 0, $9, $10, $11, $12, $13, $14, $15, $16, $17, $17, $17, $17)
     returning ${COLUMNS}`,
    [
      tenantId,
      id,
      owner.identity,
      owner.verified,
      start.subject,
      sourceOf(author),
      start.client_message_id ?? null,
      starterOf(author),
      preview(start.first.body),
      author.type,
      side === 'user' ? 1 : 0,
      side === 'team' ? 1 : 0,
      side === 'team' ? 1 : 0,
      side === 'user' ? 1 : 0,
      side === 'user' ? now : null,
      start.previous_id ?? null,
      now,
    ],
  );
  const conversation = rows[0] as ConversationRow;
  await indexMessages(session, tenantId, [{ conversation_id: id, id, text: start.subject }]);
  const content = { ...start.first, kind: 'reply' } as const;
  const message = await insertRow(session, tenantId, conversation.id, author, content, 1, 0, now);
  return { conversation, message };
}

const preview = (body: string): string => [...body].slice(0, PREVIEW_LENGTH).join('');

async function insertRow(
  session: Session,
  tenantId: string,
  conversationId: string,
  author: Author,
  content: Omit<MessageContent, 'kind'> & { kind: MessageRow['kind'] },
  seq: number,
  noteSeq: number,
  now: Date,
): Promise<MessageRow> {
  const id = newUuid();
  const inserted = session.query<MessageRow>(
    `insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, author_id, author_name, body,
       format, client_message_id, created_at, redacted)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, false) returning ${MESSAGE_COLUMNS}`,
    [
      tenantId,
      id,
      conversationId,
      seq,
      noteSeq,
      content.kind,
      author.type,
      author.id,
      author.name,
      content.body,
      content.format,
      content.client_message_id ?? null,
      now,
    ],
  );
  const text = { conversation_id: conversationId, id, text: content.body };
  const indexed = content.kind === 'event' ? undefined : indexMessages(session, tenantId, [text]);
  const [rows] = await Promise.all([inserted, indexed]);
  return rows[0] as MessageRow;
}

export interface Added {
  message: MessageRow;
  created: boolean;
}

/**
 * Adds a message. The same `client_message_id` again gives the first one.
 *
 * A reply moves the conversation's status; a user's reply to one resolved more than 30 days ago starts a new
 * conversation that names the old one. A note moves nothing that the user sees.
 */
export const insertMessage = (
  tenant: TenantStorage,
  conversationId: string,
  owner: Owner | undefined,
  author: Author,
  content: MessageContent,
): Promise<Added> =>
  tenant.transaction(async session => {
    const { tenantId } = tenant;
    const addressed = await readConversation(session, tenantId, conversationId, owner, 'for update');
    const now = await openWrite(session);
    const isUser = sideOf(author.type) === 'user';
    for (let conversation = addressed; ; ) {
      const known = await findMessageByClientId(session, tenantId, conversation, author, content.client_message_id);
      if (known) return { message: known, created: false };
      const stale = isUser && isStale(conversation, now);
      const next = stale ? await readFollowUp(session, tenantId, conversation) : undefined;
      if (!next)
        return { message: await write(session, tenantId, conversation, author, content, stale, now), created: true };
      conversation = next;
    }
  });

/** Whether a conversation was resolved so long ago that its user starts a new one. */
const isStale = ({ resolved_at }: ConversationRow, now: Date): boolean =>
  resolved_at !== null && now.getTime() - resolved_at.getTime() > REOPEN_DAYS * 86_400_000;

/** The conversation that was started in place of a stale one, so that a second message does not start another. */
async function readFollowUp(
  session: Session,
  tenantId: string,
  stale: ConversationRow,
): Promise<ConversationRow | undefined> {
  const rows = await session.query<ConversationRow>(
    `select ${COLUMNS} from conversations where tenant_id = $1 and identity = $2 and identity_verified = $3
     and previous_id = $4 order by created_at desc, id desc limit 1 for update`,
    [tenantId, stale.identity, stale.identity_verified, stale.id],
  );
  return rows[0];
}

async function write(
  session: Session,
  tenantId: string,
  conversation: ConversationRow,
  author: Author,
  content: MessageContent,
  stale: boolean,
  now: Date,
): Promise<MessageRow> {
  if (content.kind === 'note') return addNote(session, tenantId, conversation, author, content, now);
  if (stale) {
    const whose = { identity: conversation.identity, verified: conversation.identity_verified };
    const started = await startConversation(session, tenantId, whose, author, {
      subject: conversation.subject,
      previous_id: conversation.id,
      first: content,
    });
    return started.message;
  }
  const message = await insertRow(
    session,
    tenantId,
    conversation.id,
    author,
    content,
    conversation.last_seq + 1,
    0,
    now,
  );
  await applyReply(session, tenantId, conversation, message, now);
  return message;
}

/** Finds a message by its client's id, also in the conversation that followed an old one. */
async function findMessageByClientId(
  session: Session,
  tenantId: string,
  conversation: ConversationRow,
  author: Author,
  clientMessageId: string | undefined,
): Promise<MessageRow | undefined> {
  if (clientMessageId === undefined) return undefined;
  const rows = await session.query<MessageRow>(
    `select ${MESSAGE_COLUMNS} from messages where tenant_id = $1 and author_type = $3 and author_id = $7 and client_message_id = $4
       and (conversation_id = $2 or conversation_id in (select id from conversations
            where tenant_id = $1 and identity = $5 and identity_verified = $6 and previous_id = $2))`,
    [
      ...[tenantId, conversation.id, author.type, clientMessageId],
      ...[conversation.identity, conversation.identity_verified, author.id],
    ],
  );
  return rows[0];
}

async function applyReply(
  session: Session,
  tenantId: string,
  before: ConversationRow,
  message: MessageRow,
  now: Date,
): Promise<void> {
  const side = sideOf(message.author_type);
  const unread = side === 'team' ? 'user_unread' : 'team_unread';
  await session.query(
    `update conversations set status = $3, last_seq = $4, last_preview = $5, last_author_type = $6, last_activity_at = $7,
       updated_at = $7, team_updated_at = $7, resolved_at = null, waiting_since = $8, first_reply_at = $9,
       ${unread} = ${unread} + 1
     where tenant_id = $1 and id = $2`,
    [
      tenantId,
      before.id,
      statusAfterReply(side),
      message.seq,
      preview(message.body),
      message.author_type,
      now,
      side === 'team' ? null : (before.waiting_since ?? now),
      before.first_reply_at ?? (side === 'team' && before.source_type === 'user' ? now : null),
    ],
  );
}

async function addNote(
  session: Session,
  tenantId: string,
  conversation: ConversationRow,
  author: Author,
  content: Omit<MessageContent, 'kind'> & { kind: MessageRow['kind'] },
  now: Date,
): Promise<MessageRow> {
  const noteSeq = conversation.last_note_seq + 1;
  const note = await insertRow(
    session,
    tenantId,
    conversation.id,
    author,
    content,
    conversation.last_seq,
    noteSeq,
    now,
  );
  await session.query(
    'update conversations set last_note_seq = $3, team_updated_at = $4 where tenant_id = $1 and id = $2',
    [tenantId, conversation.id, noteSeq, now],
  );
  conversation.last_note_seq = noteSeq;
  return note;
}

/** PostgreSQL's largest `int`. */
const MAX_SEQ = 2_147_483_647;

/** The messages of a conversation in order; notes and events, for the team alone, stand where they were written. */
export async function listMessages(
  tenant: TenantStorage,
  conversationId: string,
  owner: Owner | undefined,
  afterSeq: number,
  limit: number,
  after: string[] | null,
): Promise<Page<MessageRow>> {
  await findConversation(tenant, conversationId, owner);
  const where = createWhere();
  where.and('tenant_id = $ and conversation_id = $', tenant.tenantId, conversationId);
  if (owner) whereReplies(where, Number(after?.[0] ?? afterSeq), limit);
  else where.and('(seq, note_seq) > ($::int, $::int)', ...(after ?? [afterSeq, 0]));
  const rows = await tenant.query<MessageRow>(
    `select ${MESSAGE_COLUMNS} from messages ${where.sql} order by seq, note_seq limit ${where.param(limit + 1)}`,
    where.params,
  );
  return toPage(rows, limit, row => [String(row.seq), String(row.note_seq)]);
}

/** Replies have the numbers 1, 2, 3 …: those of a page are read by number, however many notes stand between them. */
function whereReplies(where: Where, afterSeq: number, limit: number): void {
  const numbers = Array.from({ length: limit + 1 }, (_, index) => afterSeq + 1 + index);
  where.and(
    'note_seq = 0 and seq = any($::int[])',
    numbers.filter(number => number <= MAX_SEQ),
  );
}

/** Moves a side's read horizon forward, never back, and never beyond the last message. */
export const markRead = (
  tenant: TenantStorage,
  id: string,
  owner: Owner | undefined,
  side: Side,
  seq: number,
): Promise<void> =>
  tenant.transaction(async session => {
    const conversation = await readConversation(session, tenant.tenantId, id, owner, 'for update');
    const horizon = Math.min(seq, conversation.last_seq);
    if (horizon <= conversation[`${side}_read_seq`]) return;
    const now = await openWrite(session);
    const authors = side === 'user' ? "<> 'user'" : "= 'user'";
    const touched = side === 'user' ? 'updated_at = $4, team_updated_at = $4' : 'team_updated_at = $4';
    await session.query(
      `update conversations set ${side}_read_seq = $3, ${touched}, ${side}_unread = (select count(*) from messages
         where tenant_id = $1 and conversation_id = $2 and note_seq = 0 and seq > $3 and author_type ${authors})
       where tenant_id = $1 and id = $2`,
      [tenant.tenantId, id, horizon, now],
    );
  });

/**
 * Changes a conversation under a row lock. `check` throws to leave it as it is.
 *
 * Setting the status that it has is 409. The team's changes are noted as events; only those of status and subject
 * move what the user sees.
 */
export const updateConversation = (
  tenant: TenantStorage,
  id: string,
  owner: Owner | undefined,
  actor: Author,
  patch: ConversationPatch,
  check: (conversation: ConversationRow) => void,
): Promise<ConversationRow> =>
  tenant.transaction(async session => {
    if (patch.assignee_id) await lockAssignee(session, tenant.tenantId, patch.assignee_id);
    const before = await readConversation(session, tenant.tenantId, id, owner, 'for update');
    check(before);
    if (patch.status === before.status)
      throw new Problem('invalid-transition', `The conversation is ${before.status} already.`, {
        extra: {
          from: before.status,
          allowed: ['open', 'pending', 'resolved'].filter(status => status !== before.status),
        },
      });
    if (!changesAnything(before, patch)) return before;
    const now = await openWrite(session);
    if (sideOf(actor.type) === 'team') await noteChanges(session, tenant.tenantId, before, actor, patch, now);
    const seenByUser = patch.status !== undefined || (patch.subject !== undefined && patch.subject !== before.subject);
    const status = patch.status ?? before.status;
    const rows = await session.query<ConversationRow>(
      `update conversations set status = $3, subject = $4, priority = $5, assignee_id = $6, tags = $7, resolved_at = $8,
         waiting_since = $9, updated_at = $10, team_updated_at = $11
       where tenant_id = $1 and id = $2 returning ${COLUMNS}`,
      [
        tenant.tenantId,
        id,
        status,
        patch.subject ?? before.subject,
        patch.priority ?? before.priority,
        patch.assignee_id === undefined ? before.assignee_id : patch.assignee_id,
        patch.tags ?? before.tags,
        status === 'resolved' ? (before.resolved_at ?? now) : null,
        status === 'resolved' ? null : before.waiting_since,
        seenByUser ? now : before.updated_at,
        now,
      ],
    );
    if (patch.subject !== undefined && patch.subject !== before.subject)
      await indexMessages(session, tenant.tenantId, [{ conversation_id: id, id, text: patch.subject }]);
    return rows[0] as ConversationRow;
  });

/** Throws 422 for somebody who is no member. Whoever is stays one until the assignment is made. */
async function lockAssignee(session: Session, tenantId: string, memberId: string): Promise<void> {
  const found = await session.query('select from members where tenant_id = $1 and id = $2 for key share', [
    tenantId,
    memberId,
  ]);
  if (found.length === 0) throw fieldFault('/assignee_id', 'is not a member of this tenant');
}

const changesAnything = (before: ConversationRow, { tags, ...fields }: ConversationPatch): boolean =>
  (tags !== undefined && JSON.stringify(tags) !== JSON.stringify(before.tags)) ||
  (Object.keys(fields) as (keyof typeof fields)[]).some(
    name => fields[name] !== undefined && fields[name] !== before[name],
  );

async function noteChanges(
  session: Session,
  tenantId: string,
  before: ConversationRow,
  actor: Author,
  patch: ConversationPatch,
  now: Date,
): Promise<void> {
  for (const field of ['status', 'assignee_id', 'priority'] as const) {
    const value = patch[field];
    if (value === undefined || value === before[field]) continue;
    const body = `${field}: ${describeValue(field, before[field])} → ${describeValue(field, value)}`;
    await addNote(session, tenantId, before, actor, { body, format: 'text', kind: 'event' }, now);
  }
}

/** A value of a field as an event tells it: a member by the identifier that the API knows. */
const describeValue = (field: string, value: string | null): string => {
  if (value === null) return 'none';
  return field === 'assignee_id' ? toTypeId('member', value) : value;
};

/**
 * Takes the conversations of a member who leaves, within that transaction; each has an event that says so.
 *
 * To be called once the member is gone: whoever assigns at that time holds the member first, and then the conversation.
 */
export async function unassignMember(
  session: Session,
  tenantId: string,
  memberId: string,
  actor: Author,
): Promise<void> {
  const now = await openWrite(session);
  const freed = await session.query<{ conversation_id: string; seq: number; note_seq: number }>(
    `update conversations set assignee_id = null, last_note_seq = last_note_seq + 1, team_updated_at = $3
     where tenant_id = $1 and assignee_id = $2
     returning id as conversation_id, last_seq as seq, last_note_seq as note_seq`,
    [tenantId, memberId, now],
  );
  if (freed.length === 0) return;
  const events = unnest(
    freed.map(row => ({ ...row, id: newUuid() })),
    { conversation_id: 'uuid', seq: 'int', note_seq: 'int', id: 'uuid' },
    7,
  );
  const body = `assignee_id: ${describeValue('assignee_id', memberId)} → none`;
  await session.query(
    `insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, author_id, author_name, body,
       format, created_at, redacted)
     select $1::uuid, id, conversation_id, seq, note_seq, 'event', $2::text, $3::text, $4::text, $5::text, 'text',
       $6::timestamptz, false from ${events.sql}`,
    [tenantId, actor.type, actor.id, actor.name, body, now, ...events.params],
  );
}

/** Deletes a conversation with its messages. */
export const deleteConversation = (
  tenant: TenantStorage,
  id: string,
  check: (conversation: ConversationRow) => void,
): Promise<void> =>
  tenant.transaction(async session => {
    check(await readConversation(session, tenant.tenantId, id, undefined, 'for update'));
    await session.query('delete from messages where tenant_id = $1 and conversation_id = $2', [tenant.tenantId, id]);
    await session.query('delete from conversations where tenant_id = $1 and id = $2', [tenant.tenantId, id]);
  });

/** What its author does to a message. A redacted one keeps its place and loses its text. */
export type MessageChange = { body: string; format: 'text' | 'markdown' | undefined } | 'redact';

/** Edits or redacts a message: its author alone, within 15 minutes. */
export const changeMessage = (
  tenant: TenantStorage,
  conversationId: string,
  messageId: string,
  owner: Owner | undefined,
  author: Author,
  change: MessageChange,
): Promise<MessageRow> =>
  tenant.transaction(async session => {
    const conversation = await readConversation(session, tenant.tenantId, conversationId, owner, 'for update');
    const now = await openWrite(session);
    const message = await readOwnMessage(session, tenant.tenantId, conversationId, messageId, author, now);
    const redact = change === 'redact';
    const [body, format] = redact ? ['', message.format] : [change.body, change.format ?? message.format];
    const rows = await session.query<MessageRow>(
      `update messages set body = $4, format = $5, redacted = $6, edited_at = $7
       where tenant_id = $1 and conversation_id = $2 and id = $3 returning ${MESSAGE_COLUMNS}`,
      [tenant.tenantId, conversationId, messageId, body, format, redact, now],
    );
    await indexMessages(session, tenant.tenantId, [{ conversation_id: conversationId, id: messageId, text: body }]);
    await applyEdit(session, tenant.tenantId, conversation, message, body, now);
    return rows[0] as MessageRow;
  });

async function readOwnMessage(
  session: Session,
  tenantId: string,
  conversationId: string,
  messageId: string,
  author: Author,
  now: Date,
): Promise<MessageRow> {
  const rows = await session.query<MessageRow>(
    `select ${MESSAGE_COLUMNS} from messages where tenant_id = $1 and conversation_id = $2 and id = $3`,
    [tenantId, conversationId, messageId],
  );
  const message = rows[0];
  const visible = message && (sideOf(author.type) === 'team' || message.note_seq === 0);
  if (!message || !visible) throw notFound('message');
  if (message.author_type !== author.type || message.author_id !== author.id || message.kind === 'event')
    throw new Problem('insufficient-scope', 'Only its author may change a message.');
  const ageMs = now.getTime() - message.created_at.getTime();
  if (message.redacted || ageMs > MESSAGE_EDIT_MINUTES * 60_000)
    throw new Problem('message-not-editable', `A message can be changed for ${MESSAGE_EDIT_MINUTES} minutes.`);
  return message;
}

async function applyEdit(
  session: Session,
  tenantId: string,
  conversation: ConversationRow,
  message: MessageRow,
  body: string,
  now: Date,
): Promise<void> {
  const isReply = message.note_seq === 0;
  const isLast = isReply && message.seq === conversation.last_seq;
  await session.query(
    `update conversations set last_preview = $3, updated_at = $4, team_updated_at = $5 where tenant_id = $1 and id = $2`,
    [
      tenantId,
      conversation.id,
      isLast ? preview(body) : conversation.last_preview,
      isReply ? now : conversation.updated_at,
      now,
    ],
  );
}
