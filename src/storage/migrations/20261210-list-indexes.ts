import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently } from './concurrent-index.ts';

/**
 * Indexes for the sort orders of the conversation lists, built concurrently. `answers_written` is dropped, because
 * `answer_words` replaces it: one index entry fewer for each stored text.
 */
export class ListIndexes extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    const indexes = {
      conversations_created: 'conversations (tenant_id, created_at, id)',
      conversations_updated_of_identity: 'conversations (tenant_id, identity, identity_verified, updated_at, id)',
    };
    for (const [name, definition] of Object.entries(indexes))
      for (const sql of createIndexConcurrently(name, definition)) this.addSql(sql);
    this.addSql('drop index concurrently if exists answers_written');
    this.addSql('insert into schema_state values (19, 1) on conflict do nothing');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
