import { Migration } from '@mikro-orm/migrations';

/** The members that a note mentions, and those that any note of a conversation mentions, for the filter. */
export class Mentions extends Migration {
  override up(): void {
    this.addSql(`alter table messages add column mentions uuid[] not null default '{}'`);
    this.addSql(`alter table conversations add column mentioned uuid[] not null default '{}'`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
