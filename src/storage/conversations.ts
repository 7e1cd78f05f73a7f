import { changeEvent, describeEvent } from '../domain/conversation-events.ts';
import { type ConversationPatch, sideOf } from '../domain/conversations.ts';
import { newUuid } from '../domain/ids.ts';
import { fieldFault, Problem } from '../domain/problem.ts';
import {
  type Author,
  addEvent,
  CONVERSATION_COLUMNS,
  type ConversationRow,
  type Owner,
  openWrite,
  readConversation,
  type Writing,
} from './conversation-rows.ts';
import type { TenantStorage } from './orm.ts';
import { indexMessages } from './search-index.ts';
import { unnest } from './sql.ts';
import type { Transaction } from './transaction.ts';

export const findConversation = (tenant: TenantStorage, id: string, owner: Owner | undefined) =>
  readConversation(tenant, tenant.tenantId, id, owner);

/**
 * Changes a conversation under a row lock. `check` throws to prevent the change.
 *
 * Setting the current status again is 409. The team's changes are recorded as events. Only changes of status and
 * subject are visible to the user.
 */
export const updateConversation = (
  tenant: TenantStorage,
  { id, owner }: { id: string; owner: Owner | undefined },
  actor: Author,
  patch: ConversationPatch,
  check: (conversation: ConversationRow) => void,
): Promise<ConversationRow> =>
  tenant.transaction(async tx => {
    if (patch.assignee_id) await lockAssignee(tx, tenant.tenantId, patch.assignee_id);
    const before = await readConversation(tx, tenant.tenantId, id, owner, 'for update');
    check(before);
    if (patch.status === before.status)
      throw new Problem('invalid-transition', `The conversation is already ${before.status}.`, {
        extra: {
          from: before.status,
          allowed: ['open', 'pending', 'resolved'].filter(status => status !== before.status),
        },
      });
    if (!changesAnything(before, patch)) return before;
    const now = await openWrite(tx);
    if (sideOf(actor.type) === 'team')
      await recordChanges({ tx, tenantId: tenant.tenantId, author: actor, now }, before, patch);
    const seenByUser = patch.status !== undefined || (patch.subject !== undefined && patch.subject !== before.subject);
    const status = patch.status ?? before.status;
    const rows = await tx.query<ConversationRow>(
      `update conversations set status = $3, subject = $4, priority = $5, assignee_id = $6, tags = $7, resolved_at = $8,
         waiting_since = $9, updated_at = $10, team_updated_at = $11
       where tenant_id = $1 and id = $2 returning ${CONVERSATION_COLUMNS}`,
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
      await indexMessages(tx, tenant.tenantId, [{ conversation_id: id, id, text: patch.subject }]);
    return rows[0] as ConversationRow;
  });

/** Throws 422 if the assignee is not a member. Prevents the member's removal until the assignment is committed. */
async function lockAssignee(tx: Transaction, tenantId: string, memberId: string): Promise<void> {
  const found = await tx.query('select from members where tenant_id = $1 and id = $2 for key share', [
    tenantId,
    memberId,
  ]);
  if (found.length === 0)
    throw fieldFault(
      '/assignee_id',
      'unknown-reference',
      'Must be the id of a member of this tenant, from GET /v1/members, or null.',
    );
}

const changesAnything = (before: ConversationRow, { tags, ...fields }: ConversationPatch): boolean =>
  (tags !== undefined && JSON.stringify(tags) !== JSON.stringify(before.tags)) ||
  (Object.keys(fields) as (keyof typeof fields)[]).some(
    name => fields[name] !== undefined && fields[name] !== before[name],
  );

async function recordChanges(writing: Writing, before: ConversationRow, patch: ConversationPatch): Promise<void> {
  for (const field of ['status', 'assignee_id', 'priority'] as const) {
    const value = patch[field];
    if (value === undefined || value === before[field]) continue;
    await addEvent(writing, before, changeEvent(field, before[field], value, writing.author));
  }
}

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
  if (freed.length === 0) return;
  const events = unnest(
    freed.map(row => ({ ...row, id: newUuid() })),
    { conversation_id: 'uuid', seq: 'int', note_seq: 'int', id: 'uuid' },
    8,
  );
  const event = changeEvent('assignee_id', memberId, null, actor);
  await tx.query(
    `insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, author_id, author_name, body,
       format, created_at, redacted, event)
     select $1::uuid, id, conversation_id, seq, note_seq, 'event', $2::text, $3::text, $4::text, $5::text, 'text',
       $6::timestamptz, false, $7::jsonb from ${events.sql}`,
    [
      ...[tenantId, actor.type, actor.id, actor.name, describeEvent(event), now, JSON.stringify(event)],
      ...events.params,
    ],
  );
}

/** Deletes a conversation with its messages. */
export const deleteConversation = (
  tenant: TenantStorage,
  id: string,
  check: (conversation: ConversationRow) => void,
): Promise<void> =>
  tenant.transaction(async tx => {
    check(await readConversation(tx, tenant.tenantId, id, undefined, 'for update'));
    await tx.query('delete from messages where tenant_id = $1 and conversation_id = $2', [tenant.tenantId, id]);
    await tx.query('delete from conversations where tenant_id = $1 and id = $2', [tenant.tenantId, id]);
  });
