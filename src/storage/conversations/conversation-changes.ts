import {
  applyChange,
  type Change,
  type ConflictCode,
  type ConversationPatch,
  planChange,
  requireRoomForCustom,
  requireRoomForTags,
  requireSeen,
  requireTransition,
} from '../../domain/conversations/conversation-changes.ts';
import { changeEvents, type EventReason, reasonOf } from '../../domain/conversations/conversation-events.ts';
import { requireMergeable } from '../../domain/conversations/conversation-merges.ts';
import { statusForUser } from '../../domain/conversations/conversations.ts';
import { findCustomFaults } from '../../domain/conversations/custom-fields.ts';
import { type ReplyPlan, replyDueAt } from '../../domain/conversations/reply-targets.ts';
import { causedBy } from '../../domain/events/events.ts';
import { toTypeId } from '../../domain/ids.ts';
import { notFound, Problem } from '../../domain/problem.ts';
import type { TenantStorage } from '../database/orm.ts';
import { wantedRows } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { writeEvents } from '../events/events.ts';
import { indexMessages } from '../search/search-index.ts';
import { markTenant } from '../tenants/marked-tenants.ts';
import { readCustomFields, readReplyPlan } from '../tenants/tenants.ts';
import { lockConversations } from './conversation-locks.ts';
import {
  type Author,
  CONVERSATION_COLUMNS,
  type ConversationRow,
  type EventWriting,
  feedEvents,
  insertEvents,
  type Owner,
  openWrite,
  placeEvents,
  readConversation,
} from './conversation-rows.ts';
import { requireAnswerers } from './member-references.ts';

/** A locked conversation before and after a change of its recorded fields. */
export interface Changed {
  before: ConversationRow;
  after: ConversationRow;
}

/**
 * Changes a conversation under a row lock. `check` throws to prevent the change.
 *
 * Setting the current status again is 409, and so is a value in `was` that is no longer present. Every change is
 * recorded as an event. Only changes of status and subject are visible to the user.
 */
export const updateConversation = (
  tenant: TenantStorage,
  { id, owner }: { id: string; owner: Owner | undefined },
  actor: Author,
  { was, ...change }: ConversationPatch,
  check: (conversation: ConversationRow) => void,
): Promise<ConversationRow> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    await requireReferences(tx, tenantId, change, '');
    const before = await readConversation(tx, tenantId, id, owner, 'for update');
    check(before);
    requireSeen(before, was, presentValue);
    requireTransition(before, change);
    requireRoomForTags(before, change);
    requireRoomForCustom(before, change);
    const after = applyChange(before, change);
    if (changeEvents(before, after, reasonOf(actor)).length === 0) return before;
    const writing = { tx, tenantId, author: actor, now: await openWrite(tx) };
    const rows = await storeChanges(writing, [{ before, after }], reasonOf(actor));
    return rows[0] as ConversationRow;
  });

/** The outcome of a change of one of many conversations. */
export interface BulkOutcome {
  id: string;
  status: 'changed' | 'unchanged' | 'not-found' | 'conflict';
  code?: ConflictCode;
}

/** Who makes a change of many conversations, why, and the pointer of the change in the request. */
export interface BulkActor {
  author: Author;
  reason?: EventReason;
  pointer: string;
}

/**
 * Makes one change of many conversations in one transaction, and returns the outcomes in order of `ids`.
 */
export const changeConversations = (
  tenant: TenantStorage,
  ids: readonly string[],
  { author, reason = reasonOf(author), pointer }: BulkActor,
  change: Change,
): Promise<BulkOutcome[]> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    await requireReferences(tx, tenantId, change, pointer);
    const rows = await lockConversations(tx, tenantId, ids);
    const changes: Changed[] = [];
    const outcomes = new Map<string, BulkOutcome>();
    for (const before of rows) {
      const planned = planChange(before, change);
      const isConflict = 'conflict' in planned;
      const isChanged = !isConflict && changeEvents(before, planned.after, reason).length > 0;
      if (isChanged) changes.push({ before, after: planned.after });
      if (isConflict) outcomes.set(before.id, { id: before.id, status: 'conflict', code: planned.conflict });
      else outcomes.set(before.id, { id: before.id, status: isChanged ? 'changed' : 'unchanged' });
    }
    if (changes.length > 0) await storeChanges({ tx, tenantId, author, now: await openWrite(tx) }, changes, reason);
    return ids.map(id => outcomes.get(id) ?? { id, status: 'not-found' });
  });

/**
 * Merges a conversation into another one of the same user: it is resolved, and later messages are written to the other,
 * where the user goes on waiting.
 *
 * Throws 422 for conversations of different users, and 409 if one of them was merged before. `check` throws to prevent it.
 */
export const mergeConversation = (
  tenant: TenantStorage,
  { id, into }: { id: string; into: string },
  author: Author,
  check: (conversation: ConversationRow) => void,
): Promise<ConversationRow> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    const rows = await lockConversations(tx, tenantId, [id, into]);
    const [before, target] = [id, into].map(wanted => rows.find(row => row.id === wanted));
    if (!before) throw notFound('conversation');
    check(before);
    requireMergeable(before, target);
    const after: ConversationRow = { ...before, status: 'resolved', snoozed_until: null, merged_into_id: into };
    const writing = { tx, tenantId, author, now: await openWrite(tx) };
    const waiting = takeOverWait(target, before);
    if (waiting) await storeChanges(writing, [{ before: target, after: waiting }], mergeReason(id));
    return (await storeChanges(writing, [{ before, after }], mergeReason(into)))[0] as ConversationRow;
  });

const mergeReason = (id: string): EventReason => ({ type: 'merge', id: toTypeId('conversation', id) });

/** Returns a conversation with the wait of one that is merged into it, and open; undefined if nothing changes. */
function takeOverWait(target: ConversationRow, { waiting_since }: ConversationRow): ConversationRow | undefined {
  if (!waiting_since) return undefined;
  const isEarlier = !target.waiting_since || waiting_since < target.waiting_since;
  if (!isEarlier && target.status === 'open') return undefined;
  const since = isEarlier ? waiting_since : target.waiting_since;
  return { ...target, status: 'open', snoozed_until: null, waiting_since: since };
}

const presentValue = (field: string, value: unknown): unknown =>
  field === 'assignee_id' && typeof value === 'string' ? toTypeId('member', value) : value;

/**
 * Throws 422 for an assignee who is not a member or may not answer, and for values that do not fit the tenant's custom
 * fields. `before` is an assignee who may have been removed.
 */
export async function requireReferences(
  tx: Transaction,
  tenantId: string,
  { assignee_id, custom }: Pick<Change, 'assignee_id' | 'custom'>,
  pointer: string,
  before?: string | null,
): Promise<void> {
  if (assignee_id) {
    const assignee = { id: assignee_id, pointer: `${pointer}/assignee_id`, isNullable: true };
    await requireAnswerers(tx, tenantId, [{ ...assignee, mayBeGone: assignee_id === before }]);
  }
  if (!custom) return;
  const errors = findCustomFaults(await readCustomFields(tx, tenantId), custom, `${pointer}/custom`);
  if (errors.length > 0)
    throw new Problem('validation-failed', 'The values do not match the custom fields of the tenant.', { errors });
}

const isVisible = ({ before, after }: Changed): boolean =>
  before.subject !== after.subject ||
  before.merged_into_id !== after.merged_into_id ||
  statusForUser(before.status, before.last_author_type) !== statusForUser(after.status, after.last_author_type);

/** Whether a change moves the time of the reply that is due. */
const movesReply = ({ before, after }: Changed): boolean =>
  before.priority !== after.priority || before.waiting_since !== after.waiting_since;

/** Returns when the user should have a reply: by the new priority or wait, if one of them changes. */
function dueAfter(changed: Changed, plan: ReplyPlan | undefined): Date | null {
  const { before, after } = changed;
  if (!movesReply(changed) || !after.waiting_since || !plan) return before.reply_due_at;
  return replyDueAt(after.waiting_since, after.priority, plan);
}

/** Returns the columns that a change sets, as JSON. */
function columnsOf(changed: Changed, events: number, now: Date, plan: ReplyPlan | undefined) {
  const { before, after } = changed;
  const isResolved = after.status === 'resolved';
  return {
    id: before.id,
    status: after.status,
    snoozed_until: after.snoozed_until,
    subject: after.subject,
    priority: after.priority,
    assignee_id: after.assignee_id,
    tags: after.tags,
    custom: after.custom,
    merged_into_id: after.merged_into_id,
    resolved_at: isResolved ? (before.resolved_at ?? now) : null,
    waiting_since: isResolved ? null : after.waiting_since,
    reply_due_at: isResolved ? null : dueAfter(changed, plan),
    updated_at: isVisible(changed) ? now : before.updated_at,
    last_note_seq: before.last_note_seq + events,
  };
}

const SET_COLUMNS = `status text, snoozed_until timestamptz, subject text, priority text, assignee_id uuid, tags text[], custom jsonb, merged_into_id uuid,
  resolved_at timestamptz, waiting_since timestamptz, reply_due_at timestamptz, updated_at timestamptz, last_note_seq int`;
const ASSIGNMENTS = SET_COLUMNS.split(',').map(column => {
  const [name] = column.trim().split(' ');
  return `${name} = wanted.${name}`;
});
const CHANGED = wantedRows(`* from jsonb_to_recordset($2::jsonb) as changed(id uuid, ${SET_COLUMNS})`);
const RETURNED = CONVERSATION_COLUMNS.split(',').map(column => `conversations.${column.trim()}`);

/**
 * Stores changes of locked conversations with an event for each changed field. Returns the new rows in order of
 * `changes`.
 */
export async function storeChanges(
  writing: EventWriting,
  changes: readonly Changed[],
  reason: EventReason,
): Promise<ConversationRow[]> {
  const { tx, tenantId, now } = writing;
  const events = changes.map(({ before, after }) => placeEvents(before, changeEvents(before, after, reason)));
  const plan = changes.some(movesReply) ? await readReplyPlan(tx, tenantId) : undefined;
  const columns = changes.map((changed, index) => columnsOf(changed, events[index]?.length ?? 0, now, plan));
  await insertEvents(writing, events.flat());
  const by = causedBy(writing.author);
  const ofFeed = changes.flatMap(({ before }, index) =>
    feedEvents(tenantId, before.id, events[index]?.map(({ event }) => event) ?? [], by),
  );
  await writeEvents(tx, ofFeed);
  if (reason.type !== 'rule') await markTenant(tx, tenantId, 'assignment');
  const rows = await tx.query<ConversationRow>(
    `with ${CHANGED}
     update conversations set ${ASSIGNMENTS.join(', ')}, team_updated_at = $3 from wanted
     where conversations.tenant_id = wanted.tenant_id and conversations.id = wanted.id returning ${RETURNED.join(', ')}`,
    [tenantId, JSON.stringify(columns), now],
  );
  const renamed = changes.filter(({ before, after }) => before.subject !== after.subject);
  const texts = renamed.map(({ after: { id, subject } }) => ({ conversation_id: id, id, text: subject }));
  if (texts.length > 0) await indexMessages(tx, tenantId, texts);
  const byId = new Map(rows.map(row => [row.id, row]));
  return changes.map(({ before }) => byId.get(before.id) as ConversationRow);
}
