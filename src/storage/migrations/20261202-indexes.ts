import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently } from './concurrent-index.ts';

/** Indexes on tables that may be large, created concurrently. Existing ones of earlier versions are kept. */
export class Indexes extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    const indexes = {
      answers_tagged: "answers (tenant_id, received_at, id) where tags <> '{}'",
      conversations_of_assignee: 'conversations (tenant_id, assignee_id, last_activity_at, id)',
      conversations_unread: 'conversations (tenant_id, last_activity_at, id) where team_unread > 0',
      conversations_tagged: "conversations (tenant_id, last_activity_at, id) where tags <> '{}'",
      conversations_words: "conversations using gin (tenant_words(tenant_id, subject)) where subject <> ''",
      messages_words: "messages using gin (tenant_words(tenant_id, body)) where kind <> 'event'",
      deleted_answers_newest: 'deleted_answers (tenant_id, deleted_at) where not expired',
    };
    for (const [name, definition] of Object.entries(indexes))
      for (const sql of createIndexConcurrently(name, definition)) this.addSql(sql);
    this.addSql('insert into schema_state values (12, 1) on conflict do nothing');
  }
}
