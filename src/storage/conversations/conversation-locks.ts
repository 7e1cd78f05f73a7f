import { WANTED_IDS } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { CONVERSATION_COLUMNS, type ConversationRow } from './conversation-rows.ts';

/*
 * The order in which every transaction of the inbox locks rows, which prevents deadlocks:
 *
 * 1. the tenant (`lockTenant`),
 * 2. its assignment rules, or a macro or view,
 * 3. members, in order of their ids (`lockMembers`),
 * 4. conversations, all that the transaction needs, in order of their ids (`lockConversations`),
 * 5. messages, in order of their ids (`deleteMessages`),
 * 6. a user who opens a conversation (`mayOpen`).
 *
 * A kind may be left out, but rows of an earlier kind are never locked after rows of a later kind. Only `skip locked`, which never
 * waits, may lock in any order: timers, retention, assignment and the search index use it.
 *
 * Which conversations belong together is only known from rows that others may change. Such rows are first read without a
 * lock, and read again under it: if others belong to them by now, all locks are released and taken again in order.
 */

/** Locks conversations of a tenant in order of their ids, and returns those that exist in that order. */
export const lockConversations = (
  tx: Pick<Transaction, 'query'>,
  tenantId: string,
  ids: readonly string[],
): Promise<ConversationRow[]> =>
  tx.query<ConversationRow>(
    `with ${WANTED_IDS} select ${CONVERSATION_COLUMNS} from wanted join conversations using (tenant_id, id)
     order by id for update of conversations`,
    [tenantId, ids],
  );

/** Locks the conversations that `find` returns without a lock, until it returns no further ones under the locks. */
async function lockFound(
  tx: Pick<Transaction, 'query'>,
  tenantId: string,
  find: () => Promise<string[]>,
): Promise<ConversationRow[]> {
  await tx.query('savepoint unlocked');
  for (;;) {
    const ids = await find();
    const rows = await lockConversations(tx, tenantId, ids);
    const found = await find();
    if (found.every(id => ids.includes(id))) {
      await tx.query('release savepoint unlocked');
      return rows;
    }
    await tx.query('rollback to savepoint unlocked');
  }
}

/** Locks a conversation together with those that were merged into it, and returns the ones that exist. */
export const lockWithMerged = (tx: Transaction, tenantId: string, id: string): Promise<ConversationRow[]> =>
  lockFound(tx, tenantId, async () => {
    const merged = await tx.query<{ id: string }>(
      'select id from conversations where tenant_id = $1 and merged_into_id = $2',
      [tenantId, id],
    );
    return [id, ...merged.map(row => row.id)];
  });

/** Locks a conversation together with the one to which its messages are written. */
export const lockWithTarget = (
  tx: Pick<Transaction, 'query'>,
  tenantId: string,
  id: string,
): Promise<ConversationRow[]> =>
  lockFound(tx, tenantId, async () => [id, (await followMerges(tx, tenantId, id)).at(-1) as string]);

/** Maximum number of merges that are followed. Only a chain that was made on purpose is longer. */
const MAX_MERGES = 1000;

/**
 * Returns the ids on the way from a conversation to the one into which it was merged, which may have been merged too. The
 * last one is where messages are written. Without a lock.
 */
export async function followMerges(tx: Pick<Transaction, 'query'>, tenantId: string, id: string): Promise<string[]> {
  const merges = await tx.query<{ target: string }>(
    `with recursive way as (
       select merged_into_id as target, 1 as merges from conversations where tenant_id = $1 and id = $2
       union all
       select (select merged_into_id from conversations where tenant_id = $1 and id = target), merges + 1 from way
       where target is not null and merges < ${MAX_MERGES}
     )
     select target from way where target is not null order by merges`,
    [tenantId, id],
  );
  return [id, ...merges.map(({ target }) => target)];
}

/** Deletes the messages of a locked conversation. Deliveries of webhooks may lock some of them, in the same order. */
export async function deleteMessages(tx: Transaction, tenantId: string, conversationId: string): Promise<void> {
  const ofConversation = [tenantId, conversationId];
  await tx.query(
    'select from messages where tenant_id = $1 and conversation_id = $2 order by id for update',
    ofConversation,
  );
  await tx.query('delete from messages where tenant_id = $1 and conversation_id = $2', ofConversation);
}
