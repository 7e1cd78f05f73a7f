import { Migration } from '@mikro-orm/migrations';
import { CANARY_TENANT_ID } from '../../domain/ingestion.ts';

/** The flushes that API processes claim to have made durable, and losses found (docs/decisions/0014). */
export class Conservation extends Migration {
  override up(): void {
    this.addSql(`
create table flush_producers (
  id uuid primary key,
  written bigint not null,
  settled bigint not null,
  voided bigint[] not null,
  held bigint[] not null,
  claimed_at timestamptz(3) not null
)`);
    this.addSql('create table lost_flushes (id uuid primary key, found_at timestamptz(3) not null)');
    this.addSql(`
create table vanished_answers (
  tenant_id uuid not null,
  id uuid not null,
  vanished_at timestamptz(3) not null,
  primary key (tenant_id, id)
)`);
    this.addSql('alter table vanished_answers enable row level security');
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    this.addSql(`create policy one_tenant on vanished_answers to parley_app using (tenant_id = ${tenant})`);
    for (const table of ['flush_producers', 'lost_flushes', 'vanished_answers'])
      this.addSql(`grant select, insert, update, delete on ${table} to parley_app`);
    this.noteVanished();
    this.addSql('insert into schema_state values (3, 1)');
  }

  /** Every deletion by Parley first stores the id in `deleted_answers`. */
  private noteVanished(): void {
    this.addSql(`
create function note_vanished_answers() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into vanished_answers select tenant_id, id, clock_timestamp() from gone
  where tenant_id <> '${CANARY_TENANT_ID}'
    and not exists (select from deleted_answers known where known.tenant_id = gone.tenant_id and known.id = gone.id)
  on conflict do nothing;
  return null;
end $$`);
    this.addSql(`
create trigger note_vanished after delete on answers referencing old table as gone
for each statement execute function note_vanished_answers()`);
    this.addSql(`
create function count_vanished_answers() returns bigint
language sql stable security definer set search_path = public, pg_temp
as 'select count(*) from vanished_answers'`);
    this.addSql('revoke all on function note_vanished_answers(), count_vanished_answers() from public');
    this.addSql('grant execute on function count_vanished_answers() to parley_app');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
