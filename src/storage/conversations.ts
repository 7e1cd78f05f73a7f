import { type MessageEvent, reasonOf } from '../domain/conversation-events.ts';
import { BY_SYSTEM, causedBy, type EventActor } from '../domain/events.ts';
import { toTypeId } from '../domain/ids.ts';
import {
  type Author,
  type ConversationRow,
  feedEvents,
  insertEvents,
  type Owner,
  openWrite,
  readConversation,
} from './conversation-rows.ts';
import { writeEvents } from './events.ts';
import type { TenantStorage } from './orm.ts';
import type { Transaction } from './transaction.ts';

export const findConversation = (tenant: TenantStorage, id: string, owner: Owner | undefined) =>
  readConversation(tenant, tenant.tenantId, id, owner);

/**
 * Unassigns the conversations of a removed member within the same transaction, with an event for each.
 *
 * Call it after removing the member: concurrent assignments lock the member first and then the conversation.
 */
export async function unassignMember(
  tx: Transaction,
  tenantId: string,
  memberId: string,
  actor: Author,
): Promise<void> {
  const now = await openWrite(tx);
  const freed = await tx.query<{ conversation_id: string; seq: number; note_seq: number }>(
    `update conversations set assignee_id = null, last_note_seq = last_note_seq + 1, team_updated_at = $3
     where tenant_id = $1 and assignee_id = $2
     returning id as conversation_id, last_seq as seq, last_note_seq as note_seq`,
    [tenantId, memberId, now],
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
}

/** Deletes a conversation with its messages. */
export const deleteConversation = (
  tenant: TenantStorage,
  id: string,
  check: (conversation: ConversationRow) => void,
  by: EventActor = BY_SYSTEM,
): Promise<void> =>
  tenant.transaction(async tx => {
    check(await readConversation(tx, tenant.tenantId, id, undefined, 'for update'));
    await tx.query('delete from messages where tenant_id = $1 and conversation_id = $2', [tenant.tenantId, id]);
    await tx.query('delete from conversations where tenant_id = $1 and id = $2', [tenant.tenantId, id]);
    const object = { type: 'conversation', id } as const;
    await writeEvents(tx, [{ tenantId: tenant.tenantId, type: 'conversation.deleted', object, data: { by } }]);
  });
