import { describeEvent, type MessageEvent } from '../../domain/conversations/conversation-events.ts';
import type { StoredConversation } from '../../domain/conversations/conversation-replies.ts';
import { PREVIEW_LENGTH } from '../../domain/conversations/conversations.ts';
import type { StoredMessage } from '../../domain/conversations/message-replies.ts';
import type { AuthorType, MessagePosition } from '../../domain/conversations/messages.ts';
import { causedBy, type EventActor, type EventType } from '../../domain/events/events.ts';
import { newUuid } from '../../domain/ids.ts';
import { notFound } from '../../domain/problem.ts';
import type { TenantStorage } from '../database/orm.ts';
import { unnest } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { type TenantEvent, writeEvents } from '../events/events.ts';
import { indexMessages } from '../search/search-index.ts';
import { requireMembers } from './member-references.ts';

export type ConversationRow = StoredConversation;
export type MessageRow = StoredMessage;

/** The author: a user by identity, an API key by id, or a member by id and name. */
export interface Author {
  type: AuthorType;
  id: string;
  name: string | null;
}

/** The author of changes without a request, such as those of a rule. */
interface SystemAuthor {
  type: 'system';
  id: null;
  name: null;
}

/** The owner of conversations: one verified or claimed identity. Undefined for the team, which sees all. */
export interface Owner {
  identity: string;
  verified: boolean;
}

export interface MessageContent {
  body: string;
  format: 'text' | 'markdown';
  kind: 'reply' | 'note';
  /** Members that a note mentions. */
  mentions?: string[] | undefined;
  client_message_id?: string | undefined;
  /** The newest messages that the author has seen. */
  after?: MessagePosition | undefined;
  /** Whether to write although somebody has written since. */
  force?: boolean | undefined;
}

export const CONVERSATION_COLUMNS = `id, identity, identity_verified, subject, status, snoozed_until, priority, assignee_id, tags, source_type, last_seq,
  last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread, team_unread, waiting_since,
  first_reply_at, resolved_at, previous_id, merged_into_id, custom, reply_due_at, created_at, updated_at, team_updated_at, last_activity_at`;
export const MESSAGE_COLUMNS =
  'id, conversation_id, seq, note_seq, kind, author_type, author_id, author_name, body, format, client_message_id, created_at, edited_at, redacted, event, mentions';

/** Returns the database's clock, read once the transaction is visible as an open write (`oldest_open_write`). */
export async function openWrite(tx: Transaction): Promise<Date> {
  const rows = await tx.query<{ now: Date }>('select pg_current_xact_id(), clock_timestamp()::timestamptz(3) as now');
  return rows[0]?.now as Date;
}

/** Whether a conversation is one of the owner; the team owns all. */
export const belongsTo = (row: ConversationRow, owner: Owner | undefined): boolean =>
  !owner || (row.identity === owner.identity && row.identity_verified === owner.verified);

export async function readConversation(
  tx: Pick<TenantStorage, 'query'>,
  tenantId: string,
  id: string,
  owner: Owner | undefined,
  lock = '',
): Promise<ConversationRow> {
  const rows = await tx.query<ConversationRow>(
    `select ${CONVERSATION_COLUMNS} from conversations where tenant_id = $1 and id = $2 ${lock}`,
    [tenantId, id],
  );
  if (!rows[0] || !belongsTo(rows[0], owner)) throw notFound('conversation');
  return rows[0];
}

export const preview = (body: string): string => [...body].slice(0, PREVIEW_LENGTH).join('');

/** The author, time and transaction of a write to a conversation. */
export interface Writing {
  tx: Transaction;
  tenantId: string;
  author: Author;
  now: Date;
}

/** The author of automatic changes. */
export const SYSTEM_AUTHOR: SystemAuthor = { type: 'system', id: null, name: null };

/** A write of events, also by the system. */
export type EventWriting = Omit<Writing, 'author'> & { author: Author | SystemAuthor };

export async function insertRow(
  { tx, tenantId, author, now }: Writing,
  conversationId: string,
  content: MessageContent & { id?: string },
  seq: number,
  noteSeq: number,
): Promise<MessageRow> {
  const { id = newUuid() } = content;
  const inserted = tx.query<MessageRow>(
    `insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, author_id, author_name, body,
       format, client_message_id, created_at, redacted, mentions)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, false, $14::uuid[]) returning ${MESSAGE_COLUMNS}`,
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
      content.mentions ?? [],
    ],
  );
  const text = { conversation_id: conversationId, id, text: content.body };
  const [rows] = await Promise.all([inserted, indexMessages(tx, tenantId, [text])]);
  return rows[0] as MessageRow;
}

/** The event of the feed that a message was written, edited or redacted. */
export const messageEvent = (
  { tenantId, author }: Pick<Writing, 'tenantId' | 'author'>,
  type: EventType & `message.${string}`,
  { id, conversation_id: conversationId }: Pick<MessageRow, 'id' | 'conversation_id'>,
): TenantEvent => ({ tenantId, type, object: { type: 'message', id, conversationId }, data: { by: causedBy(author) } });

/** The events of the feed for changes of a conversation: one for the status, for the assignee, and for all others. */
export function feedEvents(
  tenantId: string,
  conversationId: string,
  changes: readonly MessageEvent[],
  by: EventActor,
): TenantEvent[] {
  const object = { type: 'conversation', id: conversationId } as const;
  const one = (type: EventType, change?: MessageEvent): TenantEvent => {
    const values = change && { from: change.from as string | null, to: change.to as string | null };
    return { tenantId, type, object, data: { ...values, by } };
  };
  const status = changes.find(({ field }) => field === 'status');
  const assignee = changes.find(({ field }) => field === 'assignee_id');
  const isUpdated = changes.some(change => change !== status && change !== assignee);
  return [
    ...(status ? [one('conversation.status_changed', status)] : []),
    ...(assignee ? [one('conversation.assigned', assignee)] : []),
    ...(isUpdated ? [one('conversation.updated')] : []),
  ];
}

/** Inserts a note. The conversation remembers the members that it mentions, for the filter of the list. */
export async function addNote(
  writing: Writing,
  conversation: ConversationRow,
  content: MessageContent,
): Promise<MessageRow> {
  const { tx, tenantId, now } = writing;
  const { mentions = [] } = content;
  await requireMembers(
    tx,
    tenantId,
    mentions.map((id, index) => ({ id, pointer: `/mentions/${index}` })),
  );
  const noteSeq = conversation.last_note_seq + 1;
  const note = await insertRow(writing, conversation.id, content, conversation.last_seq, noteSeq);
  await writeEvents(tx, [messageEvent(writing, 'message.created', note)]);
  await tx.query(
    `update conversations set last_note_seq = $3, team_updated_at = $4,
       mentioned = mentioned || array(select unnest($5::uuid[]) except select unnest(mentioned))
     where tenant_id = $1 and id = $2`,
    [tenantId, conversation.id, noteSeq, now, mentions],
  );
  conversation.last_note_seq = noteSeq;
  return note;
}

/** An event and its place in a conversation, after the reply `seq`. */
export interface PlacedEvent {
  conversation_id: string;
  seq: number;
  note_seq: number;
  event: MessageEvent;
}

/** Returns events with the numbers that follow the notes of a conversation. */
export const placeEvents = (
  { id, last_seq, last_note_seq }: Pick<ConversationRow, 'id' | 'last_seq' | 'last_note_seq'>,
  events: readonly MessageEvent[],
): PlacedEvent[] =>
  events.map((event, index) => ({ conversation_id: id, seq: last_seq, note_seq: last_note_seq + 1 + index, event }));

/** Inserts events, which only the team sees, with their text for readers that do not know `event`. */
export async function insertEvents(
  { tx, tenantId, author, now }: EventWriting,
  placed: readonly PlacedEvent[],
): Promise<void> {
  if (placed.length === 0) return;
  const rows = placed.map(({ event, ...place }) => ({
    ...place,
    id: newUuid(),
    body: describeEvent(event),
    event,
  }));
  const columns = {
    conversation_id: 'uuid',
    seq: 'int',
    note_seq: 'int',
    id: 'uuid',
    body: 'text',
    event: 'jsonb',
  } as const;
  const source = unnest(rows, columns, 6);
  await tx.query(
    `insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, author_id, author_name, body,
       format, created_at, redacted, event)
     select $1::uuid, id, conversation_id, seq, note_seq, 'event', $2::text, $3::text, $4::text, body, 'text',
       $5::timestamptz, false, event from ${source.sql}`,
    [tenantId, author.type, author.id, author.name, now, ...source.params],
  );
}
