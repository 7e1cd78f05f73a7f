import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently } from './concurrent-index.ts';

/**
 * An index of the conversations that continue an earlier one. Each message with a `client_message_id` looks for them, and
 * read all conversations of its user. The previous version uses it too.
 */
export class ContinuedConversations extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    const definition = 'conversations (tenant_id, previous_id) where previous_id is not null';
    for (const sql of createIndexConcurrently('conversations_continued', definition)) this.addSql(sql);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
