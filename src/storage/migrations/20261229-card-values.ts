import { Migration } from '@mikro-orm/migrations';

/**
 * What card records keep of views and answers: how often the card was shown, and the value of the last answer. A record
 * written by the previous version counts as one view. The columns are nullable or have a constant default, so the table is
 * not rewritten.
 */
export class CardValues extends Migration {
  override up(): void {
    this.addSql(`
alter table card_records
  add column displays int not null default 1,
  add column last_value jsonb`);
    this.addSql('insert into schema_state values (32, 11) on conflict do nothing');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
