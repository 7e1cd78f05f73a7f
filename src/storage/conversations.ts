import { type MessageEvent, reasonOf } from '../domain/conversation-events.ts';
import { causedBy } from '../domain/events.ts';
import { toTypeId } from '../domain/ids.ts';
import { storeChanges } from './conversation-changes.ts';
import {
  type Author,
  CONVERSATION_COLUMNS,
  type ConversationRow,
  type EventWriting,
  feedEvents,
  insertEvents,
  type Owner,
  openWrite,
  readConversation,
  SYSTEM_AUTHOR,
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

/** Deletes a conversation with its messages. Those that were merged into it continue on their own. */
export const deleteConversation = (
  tenant: TenantStorage,
  id: string,
  check: (conversation: ConversationRow) => void,
  author: EventWriting['author'] = SYSTEM_AUTHOR,
): Promise<void> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    const conversation = await readConversation(tx, tenantId, id, undefined, 'for update');
    check(conversation);
    await separateMerged(tx, tenantId, conversation, author);
    await tx.query('delete from messages where tenant_id = $1 and conversation_id = $2', [tenantId, id]);
    await tx.query('delete from conversations where tenant_id = $1 and id = $2', [tenantId, id]);
    const object = { type: 'conversation', id } as const;
    await writeEvents(tx, [{ tenantId, type: 'conversation.deleted', object, data: { by: causedBy(author) } }]);
  });

/** Ends the merges into a locked conversation, so that messages to the merged ones are not written to a deleted one. */
async function separateMerged(
  tx: Transaction,
  tenantId: string,
  { id, identity, identity_verified }: ConversationRow,
  author: EventWriting['author'],
): Promise<void> {
  const merged = await tx.query<ConversationRow>(
    `select ${CONVERSATION_COLUMNS} from conversations where tenant_id = $1 and identity = $2 and identity_verified = $3
     and merged_into_id = $4 order by id for update`,
    [tenantId, identity, identity_verified, id],
  );
  if (merged.length === 0) return;
  const changes = merged.map(before => ({ before, after: { ...before, merged_into_id: null } }));
  await storeChanges({ tx, tenantId, author, now: await openWrite(tx) }, changes, reasonOf(author));
}
