import { changeEvents, reasonOf } from '../../domain/conversations/conversation-events.ts';
import { REOPEN_DAYS, type Side, sideOf, statusAfterReply } from '../../domain/conversations/conversations.ts';
import { MAX_MISSED, type MessagePosition } from '../../domain/conversations/messages.ts';
import { replyDueAt } from '../../domain/conversations/reply-targets.ts';
import { DAY_MS } from '../../domain/durations.ts';
import { causedBy } from '../../domain/events/events.ts';
import { newUuid } from '../../domain/ids.ts';
import { notFound } from '../../domain/problem.ts';
import type { TenantStorage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';
import { writeEvents } from '../events/events.ts';
import { markTenant } from '../tenants/marked-tenants.ts';
import { readReplyPlan } from '../tenants/tenants.ts';
import { mayOpen, tooManyActive } from './active-conversations.ts';
import { followMerges, lockConversations } from './conversation-locks.ts';
import {
  type Author,
  addNote,
  belongsTo,
  type ConversationRow,
  feedEvents,
  insertEvents,
  insertRow,
  MESSAGE_COLUMNS,
  type MessageContent,
  type MessageRow,
  messageEvent,
  type Owner,
  openWrite,
  placeEvents,
  preview,
  readConversation,
  type Writing,
} from './conversation-rows.ts';
import { readFollowUp, refuseDeletedStart, requireSameText, startConversation } from './conversation-starts.ts';
import { missingConversation } from './conversation-tombstones.ts';
import { lockMembers } from './member-references.ts';

/** A message that was written, or that an earlier request with the same `client_message_id` has written. */
export interface Added {
  message: MessageRow;
  created: boolean;
  /** Seconds from the user's first message to this one, if it is the team's first reply to it. */
  firstReplySeconds: number | null;
}

/** Messages of others, because of which the message was not written. */
export interface Missed {
  missed: MessageRow[];
}

/**
 * Inserts a message. The same `client_message_id` again returns the first one; 409 with another text.
 *
 * With `after`, the message is refused if somebody has written since. A reply changes the conversation's status. A user's reply to a conversation resolved more than 30 days ago starts a
 * new one that refers to it; 409 if a reply of a user would open one too many. A note changes no data visible to the user.
 */
export async function insertMessage(
  tenant: TenantStorage,
  conversationId: string,
  owner: Owner | undefined,
  author: Author,
  content: MessageContent,
): Promise<Added | Missed> {
  const message = { owner, author, content };
  let place: Place = { id: conversationId, passed: [] };
  for (let attempt = 0; attempt < MAX_PLACES; attempt++) {
    const outcome = await tenant.transaction(tx => insertAt(tx, tenant.tenantId, place, message));
    if (!('elsewhere' in outcome)) return outcome;
    place = outcome.elsewhere ?? { id: conversationId, passed: [] };
  }
  throw notFound('conversation');
}

/**
 * Maximum number of conversations in which a message is tried: merges and follow-ups lead from one to another. An app that
 * always writes to the first conversation of its user passes each follow-up, of which there is at most one in `REOPEN_DAYS`.
 */
const MAX_PLACES = 1000;

/** A conversation to which a message is addressed, and the ids of those that refer to it. */
interface Place {
  id: string;
  passed: readonly string[];
}

/**
 * Another place for the message; undefined for the first one again, because a merge was made or ended meanwhile. Then the
 * transaction ends, because it must not wait for a conversation while it holds another one.
 */
interface Elsewhere {
  elsewhere: Place | undefined;
}

interface NewMessage {
  owner: Owner | undefined;
  author: Author;
  content: MessageContent;
}

async function insertAt(
  tx: Transaction,
  tenantId: string,
  place: Place,
  { owner, author, content }: NewMessage,
): Promise<Added | Missed | Elsewhere> {
  await lockMembers(tx, tenantId, content.mentions ?? []); // before the conversation
  const addressed = await lockAddressed(tx, tenantId, place, owner);
  if (!addressed) return { elsewhere: undefined };
  const { conversation, ids, now } = addressed;
  const known = await findMessageByClientId(tx, tenantId, addressed, author, content.client_message_id);
  if (known) {
    requireSameText(known, content.body);
    return { message: known, created: false, firstReplySeconds: null };
  }
  const stale = sideOf(author.type) === 'user' && isStale(conversation, now);
  const next = stale ? await readFollowUp(tx, tenantId, addressed) : undefined;
  const missed = content.force ? [] : await readMissed(tx, tenantId, conversation, content.after);
  if (missed.length > 0) return { missed };
  if (next) return { elsewhere: { id: next, passed: ids } };
  const user = { identity: conversation.identity, verified: conversation.identity_verified };
  if (conversation.status === 'resolved' && !(await mayOpen(tx, tenantId, user, author))) throw tooManyActive();
  return write({ tx, tenantId, author, now }, conversation, content, stale);
}

/** The conversation to which messages are written, and the ids of those that were merged into it on the way there. */
interface Addressed {
  conversation: ConversationRow;
  ids: string[];
  /** The database's clock, read under the lock. */
  now: Date;
}

/**
 * Locks the conversation to which messages are written: that into which it was merged, otherwise itself. Undefined if it
 * was merged or deleted before the lock.
 */
async function lockAddressed(
  tx: Transaction,
  tenantId: string,
  { id, passed }: Place,
  owner: Owner | undefined,
): Promise<Addressed | undefined> {
  const ids = [...passed, ...(await followMerges(tx, tenantId, id))];
  const locked = lockConversations(tx, tenantId, ids.slice(-1));
  const [[conversation], now] = await Promise.all([locked, openWrite(tx)]); // in this order
  if (!conversation && ids.length > 1) return undefined;
  if (!conversation) throw await missingConversation(tx, tenantId, id, owner);
  if (!belongsTo(conversation, owner)) throw notFound('conversation');
  return conversation.merged_into_id ? undefined : { conversation, ids, now };
}

/** Returns the newest replies and notes after a position, in order. Events are no messages of anybody. */
async function readMissed(
  tx: Transaction,
  tenantId: string,
  { id, last_seq, last_note_seq }: ConversationRow,
  after: MessagePosition | undefined,
): Promise<MessageRow[]> {
  if (!after || (last_seq <= after.seq && last_note_seq <= after.note_seq)) return [];
  const rows = await tx.query<MessageRow>(
    `(select ${MESSAGE_COLUMNS} from messages where tenant_id = $1 and conversation_id = $2 and note_seq = 0 and seq > $3
        order by seq desc limit $5)
     union all
     (select ${MESSAGE_COLUMNS} from messages where tenant_id = $1 and conversation_id = $2 and note_seq > $4 and kind = 'note'
        order by note_seq desc limit $5)
     order by seq desc, note_seq desc limit $5`,
    [tenantId, id, after.seq, after.note_seq, MAX_MISSED],
  );
  return rows.toReversed();
}

/** Whether a conversation was resolved so long ago that its user starts a new one. */
const isStale = ({ resolved_at }: ConversationRow, now: Date): boolean =>
  resolved_at !== null && now.getTime() - resolved_at.getTime() > REOPEN_DAYS * DAY_MS;

async function write(
  writing: Writing,
  conversation: ConversationRow,
  content: MessageContent,
  stale: boolean,
): Promise<Added> {
  const { tx, tenantId, author } = writing;
  const added = { created: true, firstReplySeconds: null };
  if (content.kind === 'note') return { ...added, message: await addNote(writing, conversation, content) };
  if (stale) {
    const whose = { identity: conversation.identity, verified: conversation.identity_verified };
    await refuseDeletedStart(tx, tenantId, whose, author, {
      clientMessageId: content.client_message_id,
      previousId: conversation.id,
    });
    const started = await startConversation(tx, tenantId, whose, author, {
      subject: conversation.subject,
      previous_id: conversation.id,
      first: content,
    });
    return { ...added, message: started?.message as MessageRow }; // it stores no client id that could be repeated
  }
  return { ...added, ...(await addReply(writing, conversation, content)) };
}

/**
 * One look-up by the whole key for each conversation, which reads only columns of the key's index. Otherwise PostgreSQL
 * may read a conversation in its order instead, as that costs the same where most conversations have one message. As one
 * condition, it reads all messages of the tenant if it expects few.
 */
export const REPEATED_MESSAGE = `select message.* from (
    select unnest($2::uuid[]) as place
    union all
    select id from conversations
    where tenant_id = $1 and identity = $5 and identity_verified = $6 and previous_id = any($2::uuid[])
  ) as places cross join lateral (
    select author_type, author_id, client_message_id from messages
    where tenant_id = $1 and conversation_id = place and author_type = $3 and author_id = $7 and client_message_id = $4 limit 1
  ) as repeated cross join lateral (
    select ${MESSAGE_COLUMNS} from messages
    where tenant_id = $1 and conversation_id = place and (author_type, author_id, client_message_id)
      = (repeated.author_type, repeated.author_id, repeated.client_message_id) limit 1
  ) as message`;

/** Finds a message by its client's id, also in the follow-up conversation and in those that were merged into this one. */
async function findMessageByClientId(
  tx: Transaction,
  tenantId: string,
  { conversation, ids }: Addressed,
  author: Author,
  clientMessageId: string | undefined,
): Promise<MessageRow | undefined> {
  if (clientMessageId === undefined) return undefined;
  const rows = await tx.query<MessageRow>(REPEATED_MESSAGE, [
    ...[tenantId, ids, author.type, clientMessageId],
    ...[conversation.identity, conversation.identity_verified, author.id],
  ]);
  return rows[0];
}

/**
 * Inserts a reply and moves its conversation on. A change of status is recorded as an event after the reply. All reads come
 * first, so that the writes are sent together.
 */
async function addReply(
  writing: Writing,
  before: ConversationRow,
  content: MessageContent,
): Promise<Pick<Added, 'message' | 'firstReplySeconds'>> {
  const { tx, tenantId, author, now } = writing;
  const side = sideOf(author.type);
  const lastSeq = before.last_seq + 1;
  const unread = side === 'team' ? 'user_unread' : 'team_unread';
  const status = statusAfterReply(before.status, side);
  const snoozedUntil = status === 'snoozed' ? before.snoozed_until : null;
  const after = { ...before, status, snoozed_until: snoozedUntil, last_seq: lastSeq };
  const events = placeEvents(after, changeEvents(before, after, reasonOf(author)));
  const isAnswer = side === 'team' && before.first_reply_at === null;
  const askedAt = isAnswer ? await findFirstMessageOfUser(writing, before) : undefined;
  const dueAt = side === 'team' ? null : await dueAfterMessage(writing, before);
  const changes = events.map(({ event }) => event);
  const id = newUuid();
  const inserted = insertRow(writing, before.id, { ...content, id }, lastSeq, 0);
  const recorded = insertEvents(writing, events);
  const written = writeEvents(tx, [
    messageEvent(writing, 'message.created', { id, conversation_id: before.id }),
    ...feedEvents(tenantId, before.id, changes, causedBy(author)),
  ]);
  const updated = tx.query(
    `update conversations set status = $3, last_seq = $4, last_preview = $5, last_author_type = $6, last_activity_at = $7,
       updated_at = $7, team_updated_at = $7, resolved_at = null, waiting_since = $8, first_reply_at = $9,
       snoozed_until = $10, last_note_seq = $11, reply_due_at = $12, ${unread} = ${unread} + 1
     where tenant_id = $1 and id = $2`,
    [
      ...[tenantId, before.id, status, lastSeq, preview(content.body), author.type, now],
      side === 'team' ? null : (before.waiting_since ?? now),
      askedAt ? now : before.first_reply_at,
      ...[snoozedUntil, before.last_note_seq + events.length],
      dueAt,
    ],
  );
  const marked = status === before.status ? undefined : markTenant(tx, tenantId, 'assignment');
  const [message] = await Promise.all([inserted, recorded, written, updated, marked]);
  return { message, firstReplySeconds: askedAt ? (now.getTime() - askedAt.getTime()) / 1000 : null };
}

/** Returns when the user should have a reply to a message: as before if they wait already. */
async function dueAfterMessage({ tx, tenantId, now }: Writing, before: ConversationRow): Promise<Date | null> {
  if (before.waiting_since) return before.reply_due_at;
  return replyDueAt(now, before.priority, await readReplyPlan(tx, tenantId));
}

/** Returns when the user wrote their first message; undefined without one. Most conversations begin with it. */
async function findFirstMessageOfUser(
  { tx, tenantId }: Writing,
  { id, source_type, created_at }: ConversationRow,
): Promise<Date | undefined> {
  if (source_type === 'user') return created_at;
  const [first] = await tx.query<{ created_at: Date }>(
    `select created_at from messages where tenant_id = $1 and conversation_id = $2 and author_type = 'user'
     order by seq limit 1`,
    [tenantId, id],
  );
  return first?.created_at;
}

/** Moves a side's read horizon forward, never back, and never beyond the last message. */
export const markRead = (
  tenant: TenantStorage,
  id: string,
  owner: Owner | undefined,
  side: Side,
  seq: number,
): Promise<void> =>
  tenant.transaction(async tx => {
    const conversation = await readConversation(tx, tenant.tenantId, id, owner, 'for update');
    const horizon = Math.min(seq, conversation.last_seq);
    if (horizon <= conversation[`${side}_read_seq`]) return;
    const now = await openWrite(tx);
    const authors = side === 'user' ? "<> 'user'" : "= 'user'";
    const touched = side === 'user' ? 'updated_at = $4, team_updated_at = $4' : 'team_updated_at = $4';
    await tx.query(
      `update conversations set ${side}_read_seq = $3, ${touched}, ${side}_unread = (select count(*) from messages
         where tenant_id = $1 and conversation_id = $2 and note_seq = 0 and seq > $3 and author_type ${authors})
       where tenant_id = $1 and id = $2`,
      [tenant.tenantId, id, horizon, now],
    );
  });
