import { Migration } from '@mikro-orm/migrations';

/**
 * The running processes, each with its version and schema, so that an operator sees the progress of an update and a
 * feature can wait until all processes support it.
 *
 * From this version on, `oldest_compatible` is the schema of the oldest build that `test/e2e/versions.check.ts` runs on
 * this schema.
 */
export class Processes extends Migration {
  override up(): void {
    this.addSql(`
create table processes (
  id uuid primary key,
  role text not null,
  version text not null,
  schema int not null,
  seen_at timestamptz(3) not null
)`);
    this.addSql('grant select, insert, update, delete on processes to parley_app, parley_worker');
    this.addSql('insert into schema_state values (23, 11) on conflict do nothing');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
