import { Migration } from '@mikro-orm/migrations';

/** The newest complete backup, for a metric with its age. */
export class LastBackup extends Migration {
  override up(): void {
    this.addSql(`
create table last_backup (
  is_only boolean primary key default true check (is_only),
  complete_until timestamptz(3) not null,
  finished_at timestamptz(3) not null
)`);
    this.addSql('grant select on last_backup to parley_app');
    this.addSql('insert into schema_state values (24, 11) on conflict do nothing');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
