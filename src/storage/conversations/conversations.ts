import { type MessageEvent, reasonOf } from '../../domain/conversations/conversation-events.ts';
import { causedBy } from '../../domain/events/events.ts';
import { toTypeId } from '../../domain/ids.ts';
import { notFound } from '../../domain/problem.ts';
import type { TenantStorage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';
import { writeEvents } from '../events/events.ts';
import { markTenant } from '../tenants/marked-tenants.ts';
import { storeChanges } from './conversation-changes.ts';
import { deleteMessages, lockWithMerged } from './conversation-locks.ts';
import {
  type ConversationRow,
  type EventWriting,
  feedEvents,
  insertEvents,
  type Owner,
  openWrite,
  readConversation,
  SYSTEM_AUTHOR,
} from './conversation-rows.ts';

export const findConversation = (tenant: TenantStorage, id: string, owner: Owner | undefined) =>
  readConversation(tenant, tenant.tenantId, id, owner);

/** Maximum number of conversations that one transaction unassigns from a member. */
export const UNASSIGN_BATCH = 1000;

/** Whether more conversations are assigned to a member than one transaction unassigns. */
export async function hasManyConversations(tx: Transaction, tenantId: string, memberId: string): Promise<boolean> {
  const rows = await tx.query('select from conversations where tenant_id = $1 and assignee_id = $2 offset $3 limit 1', [
    tenantId,
    memberId,
    UNASSIGN_BATCH,
  ]);
  return rows.length > 0;
}

/** Unassigns at most `UNASSIGN_BATCH` conversations of a member, with an event for each. Returns how many. */
export async function unassignMember(
  tx: Transaction,
  tenantId: string,
  memberId: string,
  actor: EventWriting['author'],
): Promise<number> {
  const now = await openWrite(tx);
  const freed = await tx.query<{ conversation_id: string; seq: number; note_seq: number }>(
    `with held as materialized (
       select id as held_id from conversations where tenant_id = $1 and assignee_id = $2 and id in (
         select id from conversations where tenant_id = $1 and assignee_id = $2 limit $4
       ) order by id for update
     )
     update conversations set assignee_id = null, last_note_seq = last_note_seq + 1, team_updated_at = $3
     from held where tenant_id = $1 and id = held_id
     returning id as conversation_id, last_seq as seq, last_note_seq as note_seq`,
    [tenantId, memberId, now, UNASSIGN_BATCH],
  );
  const from = toTypeId('member', memberId);
  const event: MessageEvent = { field: 'assignee_id', from, to: null, reason: reasonOf(actor) };
  await insertEvents(
    { tx, tenantId, author: actor, now },
    freed.map(row => ({ ...row, event })),
  );
  const by = causedBy(actor);
  await writeEvents(
    tx,
    freed.flatMap(({ conversation_id }) => feedEvents(tenantId, conversation_id, [event], by)),
  );
  await markTenant(tx, tenantId, 'assignment');
  return freed.length;
}

/** Deletes a conversation with its messages. Those that were merged into it continue on their own. */
export const deleteConversation = (
  tenant: TenantStorage,
  id: string,
  check: (conversation: ConversationRow) => void,
  author: EventWriting['author'] = SYSTEM_AUTHOR,
): Promise<void> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    const rows = await lockWithMerged(tx, tenantId, id);
    const conversation = rows.find(row => row.id === id);
    if (!conversation) throw notFound('conversation');
    check(conversation);
    const merged = rows.filter(row => row.merged_into_id === id);
    await separate({ tx, tenantId, author }, merged);
    await deleteMessages(tx, tenantId, id);
    await tx.query('delete from conversations where tenant_id = $1 and id = $2', [tenantId, id]);
    const object = { type: 'conversation', id } as const;
    await writeEvents(tx, [{ tenantId, type: 'conversation.deleted', object, data: { by: causedBy(author) } }]);
    await markTenant(tx, tenantId, 'assignment');
  });

/** Ends merges into a conversation that is deleted, so that messages to the merged ones are not written to it. */
async function separate(
  { tx, tenantId, author }: Omit<EventWriting, 'now'>,
  merged: readonly ConversationRow[],
): Promise<void> {
  if (merged.length === 0) return;
  const changes = merged.map(before => ({ before, after: { ...before, merged_into_id: null } }));
  await storeChanges({ tx, tenantId, author, now: await openWrite(tx) }, changes, reasonOf(author));
}
