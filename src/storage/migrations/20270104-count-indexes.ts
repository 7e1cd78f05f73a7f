import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.ts';

/** Columns of fixed size that filters of views use, as in `20270102-inbox-indexes.ts`. */
const COUNTED = 'status, assignee_id, priority, source_type, identity_verified, reply_due_at';

/**
 * Indexes for the counts of unread conversations and of open ones with mentions.
 *
 * The first one replaces `conversations_unread`: a count then reads no rows of the table. The second one has only open
 * conversations, of which there are few, because an index cannot contain the mentioned members: a list of them may be larger
 * than an entry.
 */
export class CountIndexes extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    const inOrder = 'tenant_id, last_activity_at, id';
    const indexes = {
      conversations_counted_unread: `conversations (${inOrder}) include (${COUNTED}) where team_unread > 0`,
      conversations_open_mentioned: `conversations (${inOrder}) where mentioned <> '{}' and status = 'open'`,
    };
    for (const [name, definition] of Object.entries(indexes))
      for (const sql of createIndexConcurrently(name, definition)) this.addSql(sql);
    for (const sql of dropIndexConcurrently('conversations_unread')) this.addSql(sql);
    this.addSql('insert into schema_state values (39, 11) on conflict do nothing');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
