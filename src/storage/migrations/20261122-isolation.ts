import { Migration } from '@mikro-orm/migrations';

/** Flushes may be recorded answer by answer: those of which some answer is suspected of killing the worker. */
export class Isolation extends Migration {
  override up(): void {
    this.addSql('alter table recorded_flushes add column in_parts boolean not null default false');
    this.addSql('insert into schema_state values (2, 1)');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
