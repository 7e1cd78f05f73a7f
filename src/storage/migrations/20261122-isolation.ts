import { Migration } from '@mikro-orm/migrations';

/** Allows recording a flush answer by answer, if one of its answers may have killed the worker. */
export class Isolation extends Migration {
  override up(): void {
    this.addSql('alter table recorded_flushes add column in_parts boolean not null default false');
    this.addSql('insert into schema_state values (2, 1)');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
