import { Migration } from '@mikro-orm/migrations';
import { CANARY_TENANT_ID } from '../../domain/ingestion.ts';

/** Permanently deleted tenants, and the erasure of their remaining rows (docs/decisions/0024). */
export class DeletedTenants extends Migration {
  override up(): void {
    this.addSql('create table deleted_tenants (id uuid primary key, deleted_at timestamptz(3) not null)');
    this.addSql('grant select on deleted_tenants to parley_app, parley_worker');
    this.createDeletion();
    this.createErasure();
    this.forgetThem();
    this.addSql('insert into schema_state values (10, 1)');
  }

  /**
   * Deletes the connection's tenant and all access to it in one transaction; returns the deleted rows.
   *
   * Accounts are locked before checking other memberships, since a person may be joining another team at the same time.
   */
  private createDeletion(): void {
    this.addSql(`
create function delete_tenant() returns jsonb
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  doomed uuid := nullif(current_setting('parley.tenant', true), '')::uuid;
  persons uuid[];
  deleted jsonb;
begin
  perform from tenants where id = doomed for update;
  if not found then return null; end if;
  insert into deleted_tenants values (doomed, clock_timestamp());
  perform from accounts where id in (select account_id from members where tenant_id = doomed) order by id for update;
  select array_agg(account_id) into persons from members where tenant_id = doomed and not exists (
    select from members other where other.account_id = members.account_id and other.tenant_id <> doomed);
  with keys as (delete from api_keys where tenant_id = doomed returning 1),
    team as (delete from members where tenant_id = doomed returning 1),
    invited as (delete from invitations where tenant_id = doomed returning 1),
    opened as (delete from sessions where account_id = any(persons) returning 1),
    links as (delete from account_links where account_id = any(persons) returning 1),
    subjects as (delete from account_subjects where account_id = any(persons) returning 1),
    left_alone as (delete from accounts where id = any(persons) returning 1),
    itself as (delete from tenants where id = doomed returning 1)
  select jsonb_build_object(
    'tenants', (select count(*) from itself), 'api_keys', (select count(*) from keys),
    'members', (select count(*) from team), 'invitations', (select count(*) from invited),
    'accounts', (select count(*) from left_alone), 'sessions', (select count(*) from opened),
    'account_links', (select count(*) from links), 'account_subjects', (select count(*) from subjects)
  ) into deleted;
  return deleted;
end $$`);
    this.addSql('revoke all on function delete_tenant() from public');
    this.addSql('grant execute on function delete_tenant() to parley_app');
  }

  /**
   * Deletes at most a number of rows of a deleted tenant, from every table that has the column `tenant_id` at that
   * time; returns the rows by table. Always by an index, because rows deleted by earlier batches come first.
   */
  private createErasure(): void {
    this.addSql(`
create function erase_deleted_tenant(doomed uuid, at_most int) returns jsonb
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  owned name;
  number int;
  erased jsonb := '{}';
begin
  if not exists (select from deleted_tenants where id = doomed) then return erased; end if;
  for owned in
    select relname from pg_class join pg_attribute on attrelid = pg_class.oid
    where attname = 'tenant_id' and relkind = 'r' and relnamespace = 'public'::regnamespace order by relname
  loop
    execute format('delete from %I where ctid = any(array(
      select ctid from %I where tenant_id = $1 limit $2 for update skip locked))', owned, owned)
    using doomed, at_most;
    get diagnostics number = row_count;
    if number > 0 then erased := erased || jsonb_build_object(owned, number); end if;
    at_most := at_most - number;
    exit when at_most <= 0;
  end loop;
  return erased;
end $$`);
    this.addSql('revoke all on function erase_deleted_tenant(uuid, int) from public');
    this.addSql('grant execute on function erase_deleted_tenant(uuid, int) to parley_app, parley_worker');
  }

  /** Missing answers of such a tenant are not losses, and it is no longer counted. */
  private forgetThem(): void {
    this.addSql(`
create or replace function note_vanished_answers() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into vanished_answers select tenant_id, id, clock_timestamp() from gone
  where tenant_id <> '${CANARY_TENANT_ID}'
    and not exists (select from deleted_answers known where known.tenant_id = gone.tenant_id and known.id = gone.id)
    and not exists (select from deleted_tenants where deleted_tenants.id = gone.tenant_id)
  on conflict do nothing;
  return null;
end $$`);
    this.addSql(`
create or replace function count_rejected(tenant_ids uuid[], counts bigint[]) returns void
language sql security definer set search_path = public, pg_temp
as 'insert into ingestion_totals select tenant_id, 0, 0, 0, rejected from unnest(tenant_ids, counts) as rejection(tenant_id, rejected)
    where not exists (select from deleted_tenants where id = tenant_id)
    order by 1 on conflict (tenant_id) do update set rejected = ingestion_totals.rejected + excluded.rejected'`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
