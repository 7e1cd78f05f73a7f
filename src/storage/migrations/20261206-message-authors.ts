import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently } from './concurrent-index.ts';

/**
 * A `client_message_id` belongs to its author: another member or API key may use the same one.
 *
 * The previous indexes are dropped, because they refuse the second author. The previous version finds messages by its
 * own condition, under the lock of the conversation, and works without them. Conversations that it starts, and those of
 * users, have an empty `started_by`, so that the new index applies the old rule to them. Every statement can be
 * repeated: completed ones are not undone when a later one fails.
 */
export class MessageAuthors extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql("alter table conversations add column if not exists started_by text not null default ''");
    for (const sql of createIndexConcurrently(
      'messages_author_client_id',
      'messages (tenant_id, conversation_id, author_type, author_id, client_message_id)',
      'unique',
    ))
      this.addSql(sql);
    for (const sql of createIndexConcurrently(
      'conversations_starter_client_id',
      'conversations (tenant_id, identity, identity_verified, source_type, started_by, client_message_id)',
      'unique',
    ))
      this.addSql(sql);
    this.addSql('drop index if exists messages_client_id');
    this.addSql('drop index if exists conversations_client_id');
    this.addSql('insert into schema_state values (16, 1) on conflict do nothing');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
