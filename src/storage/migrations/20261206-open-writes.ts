import { Migration } from '@mikro-orm/migrations';

/**
 * Returns the session that delays incremental reads: the writer behind `oldest_open_write()`, without its statements.
 */
export class OpenWrites extends Migration {
  override up(): void {
    this.addSql(`
create function oldest_open_writer() returns table (pid int, username text, application text, age_s float8)
language sql volatile security definer set search_path = public, pg_temp
as 'select pid, usename::text, application_name, extract(epoch from clock_timestamp() - xact_start)::float8
    from pg_stat_activity
    where datname = current_database() and backend_xid is not null and pid <> pg_backend_pid()
    order by xact_start limit 1'`);
    this.addSql('revoke all on function oldest_open_writer() from public');
    this.addSql('grant execute on function oldest_open_writer() to parley_app');
    this.addSql('insert into schema_state values (17, 1)');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
