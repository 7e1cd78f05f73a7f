import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.ts';

/** Columns of fixed size that filters of views use: a count then reads no rows of the table. */
const COUNTED = 'priority, source_type, team_unread, identity_verified, reply_due_at';

/**
 * Indexes for the counts of views, for open conversations by assignee, mentions and reply targets.
 *
 * The first two replace `conversations_of_status` and `conversations_of_assignee`, whose columns they begin with.
 */
export class InboxIndexes extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    const inOrder = 'last_activity_at, id';
    const indexes = {
      conversations_counted: `conversations (tenant_id, status, ${inOrder}) include (assignee_id, ${COUNTED})`,
      conversations_counted_of_assignee: `conversations (tenant_id, assignee_id, ${inOrder}) include (status, ${COUNTED})`,
      conversations_open_of_assignee: `conversations (tenant_id, assignee_id, ${inOrder}) include (${COUNTED}) where status = 'open'`,
      conversations_mentioned: `conversations (tenant_id, ${inOrder}) where mentioned <> '{}'`,
      conversations_due: 'conversations (tenant_id, reply_due_at, id) where reply_due_at is not null',
    };
    for (const [name, definition] of Object.entries(indexes))
      for (const sql of createIndexConcurrently(name, definition)) this.addSql(sql);
    for (const name of ['conversations_of_status', 'conversations_of_assignee'])
      for (const sql of dropIndexConcurrently(name)) this.addSql(sql);
    this.addSql('insert into schema_state values (36, 11) on conflict do nothing');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
