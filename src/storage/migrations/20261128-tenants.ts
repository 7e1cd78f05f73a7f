import { Migration } from '@mikro-orm/migrations';

/** A tenant's settings for retention and for its users' apps, and the time of its first card. */
export class Tenants extends Migration {
  override up(): void {
    this.addSql(`
alter table tenants
  add column retention_answers_days int,
  add column retention_conversations_days int,
  add column identity_attributes_allowed text[] not null default '{}',
  add column results_fixed_before date,
  add column first_card_at timestamptz(3)`);
    this.addSql('alter table messages add column author_name text');
    this.announceSettings();
    this.rememberExpired();
    this.createExpiry();
    this.addSql('insert into schema_state values (8, 1)');
  }

  /** Fields that Parley itself writes are not settings, and do not invalidate caches. */
  private announceSettings(): void {
    this.addSql('drop trigger announce on tenants');
    this.addSql(`
create trigger announce after insert or delete or update of
  name, default_locale, locales, timezone, cooldown_days, ip_mode, identity_attributes_allowed
on tenants for each row execute function announce_change()`);
  }

  /**
   * Expired answers leave their ids like deleted ones. As there may be any number of them, they are not announced and
   * not in the API's cache of deleted ids.
   */
  private rememberExpired(): void {
    this.addSql('alter table deleted_answers add column expired boolean not null default false');
    this.addSql('drop trigger announce on deleted_answers');
    this.addSql(`
create trigger announce after insert on deleted_answers
for each row when (not new.expired) execute function announce_change()`);
  }

  /**
   * Functions by which the worker deletes expired rows of tenants in batches, although it cannot see the rows.
   *
   * The age is computed by the database's clock. Locked rows are left for a later batch, so that no deadlock occurs.
   * The day up to which results are fixed is set first, since a recount locks it.
   */
  private createExpiry(): void {
    this.addSql(`
create function tenants_with_retention() returns setof uuid
language sql stable security definer set search_path = public, pg_temp
as 'select id from tenants
    where retention_answers_days is not null or retention_conversations_days is not null order by id'`);
    this.addSql(`
create function expire_answers(tenant uuid, at_most int) returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  cutoff timestamptz;
  ids uuid[];
  gone int;
  discarded int;
begin
  select clock_timestamp() - make_interval(days => retention_answers_days) into cutoff from tenants where id = tenant;
  if cutoff is null then return 0; end if;
  if exists (select from answers where tenant_id = tenant and received_at < cutoff) then
    update tenants set results_fixed_before = (cutoff at time zone 'UTC')::date + 1
    where id = tenant and (results_fixed_before is null or results_fixed_before <= (cutoff at time zone 'UTC')::date);
  end if;
  select array_agg(id) into ids from (
    select id from answers where tenant_id = tenant and received_at < cutoff
    order by received_at, id limit at_most for update skip locked
  ) as oldest;
  insert into deleted_answers (tenant_id, id, deleted_at, expired)
  select tenant, id, clock_timestamp(), true from unnest(ids) as id on conflict do nothing;
  delete from answers where tenant_id = tenant and id = any(ids);
  get diagnostics gone = row_count;
  delete from quarantined_answers where tenant_id = tenant and id in (
    select id from quarantined_answers where tenant_id = tenant and quarantined_at < cutoff
    order by quarantined_at, id limit at_most for update skip locked
  );
  get diagnostics discarded = row_count;
  return gone + discarded;
end $$`);
    this.addSql(`
create function expire_conversations(tenant uuid, at_most int, messages_at_most int) returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  cutoff timestamptz;
  ids uuid[];
  gone int;
begin
  select clock_timestamp() - make_interval(days => retention_conversations_days) into cutoff from tenants where id = tenant;
  if cutoff is null then return 0; end if;
  select array_agg(id) into ids from (
    select id, sum(size) over (order by last_activity_at, id) - size as before from (
      select id, last_activity_at, last_seq + last_note_seq as size from conversations
      where tenant_id = tenant and status = 'resolved' and last_activity_at < cutoff and resolved_at < cutoff
      order by last_activity_at, id limit at_most for update skip locked
    ) as oldest
  ) as added_up where before < messages_at_most;
  delete from messages where tenant_id = tenant and conversation_id = any(ids);
  delete from conversations where tenant_id = tenant and id = any(ids);
  get diagnostics gone = row_count;
  return gone;
end $$`);
    for (const name of [
      'tenants_with_retention()',
      'expire_answers(uuid, int)',
      'expire_conversations(uuid, int, int)',
    ]) {
      this.addSql(`revoke all on function ${name} from public`);
      this.addSql(`grant execute on function ${name} to parley_worker`);
    }
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
