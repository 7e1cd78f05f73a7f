import { Migration } from '@mikro-orm/migrations';

/**
 * A `client_message_id` belongs to its author: another member or API key may use the same one.
 *
 * The indexes before are dropped, because they refuse the second author. The version before finds messages by its own
 * condition, under the lock of the conversation, and works without them. Conversations that it starts, and those of users,
 * have an empty `started_by`, so that the new index refuses among them what the old one did. Building the indexes blocks writes to
 * conversations, but not the intake and storing of answers.
 */
export class MessageAuthors extends Migration {
  override up(): void {
    this.addSql(
      'create unique index messages_author_client_id on messages (tenant_id, conversation_id, author_type, author_id, client_message_id)',
    );
    this.addSql('drop index messages_client_id');
    this.addSql("alter table conversations add column started_by text not null default ''");
    this.addSql(
      'create unique index conversations_starter_client_id on conversations (tenant_id, identity, identity_verified, source_type, started_by, client_message_id)',
    );
    this.addSql('drop index conversations_client_id');
    this.addSql('insert into schema_state values (16, 1)');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
