import { Migration } from '@mikro-orm/migrations';

/**
 * Stores the change that an event records as data, next to its text.
 *
 * The previous version writes only the text; `readEventText` reads it.
 */
export class MessageEvents extends Migration {
  override up(): void {
    this.addSql('alter table messages add column event jsonb');
    this.addSql('insert into schema_state values (22, 1) on conflict do nothing');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
