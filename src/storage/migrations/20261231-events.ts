import { Migration } from '@mikro-orm/migrations';

/** Events, and the last number that each tenant's events have reached (docs/decisions/0047). */
export class Events extends Migration {
  override up(): void {
    this.createIds();
    this.addSql(`
create table events (
  tenant_id uuid not null,
  id uuid not null default event_id_at(clock_timestamp(), gen_random_uuid()),
  type text not null,
  object_type text not null,
  object_id uuid not null,
  conversation_id uuid,
  data jsonb not null default '{}',
  written_at timestamptz(6) not null default time_of_write(),
  ordinal int not null default 0,
  sequence bigint,
  primary key (tenant_id, id)
)`);
    this.addSql('create index events_unnumbered on events (written_at, ordinal) where sequence is null');
    this.addSql('create unique index events_in_order on events (tenant_id, sequence) where sequence is not null');
    this.addSql('create table event_sequences (tenant_id uuid primary key, last bigint not null)');
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    for (const table of ['events', 'event_sequences']) {
      this.addSql(`alter table ${table} enable row level security`);
      this.addSql(`create policy one_tenant on ${table} to parley_app using (tenant_id = ${tenant})`);
      this.addSql(`create policy every_tenant on ${table} to parley_worker using (true)`);
    }
    this.addSql('grant select, insert on events to parley_app');
    this.addSql('grant select on event_sequences to parley_app');
    this.addSql('grant select, insert, update, delete on events to parley_worker');
    this.addSql('grant select on event_sequences to parley_worker');
    this.numberEvents();
    this.addSql('insert into schema_state values (34, 11) on conflict do nothing');
  }

  /**
   * `event_id_at` returns a UUIDv7 of a time: with a random UUID a new id, with zeros the start of the ids of that time.
   *
   * `time_of_write` makes the transaction visible as an open write before it reads the clock, as `openWrite` does.
   */
  private createIds(): void {
    this.addSql(`
create function event_id_at(moment timestamptz, random uuid) returns uuid language sql immutable parallel safe
return encode(set_bit(set_bit(overlay(uuid_send(random)
  placing substring(int8send(floor(extract(epoch from moment) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid`);
    this.addSql(`
create function time_of_write() returns timestamptz language sql volatile
return case when pg_current_xact_id() is not null then clock_timestamp() end`);
  }

  /**
   * `number_events` numbers the events from before the oldest open write, and returns their count and the time up to
   * which all are numbered: null for an incomplete run, or if another process is numbering.
   *
   * The lock is taken before the statement that reads the rows, so that its snapshot contains all earlier numbers. It is
   * released after the commit, and works behind a pooler in transaction mode. Rows before `since` were numbered, so the
   * index's entries of those, which a long snapshot keeps from being removed, are not read again and again.
   */
  private numberEvents(): void {
    this.addSql(`
create function number_events(since timestamptz, at_most int, out numbered int, out complete_until timestamptz)
language plpgsql security definer set search_path = public, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  horizon timestamptz;
begin
  numbered := 0;
  perform from events where sequence is null and written_at >= since limit 1;
  if not found then return; end if;
  if not pg_try_advisory_xact_lock(hashtextextended('number events', 0)) then return; end if;
  horizon := oldest_open_write();
  with fresh as materialized (
    select tenant_id, id, written_at, ordinal from events
    where sequence is null and written_at >= since and written_at < horizon
      and not exists (select from deleted_tenants where deleted_tenants.id = events.tenant_id)
    order by written_at, ordinal limit at_most
  ), placed as materialized (
    select tenant_id, id, row_number() over (partition by tenant_id order by written_at desc, ordinal desc) - 1 as behind
    from fresh
  ), reached as (
    insert into event_sequences as known
    select tenant_id, count(*) from fresh group by tenant_id order by tenant_id
    on conflict (tenant_id) do update set last = known.last + excluded.last
    returning tenant_id, last
  ), written as (
    update events set sequence = reached.last - placed.behind
    from placed join reached using (tenant_id)
    where events.tenant_id = placed.tenant_id and events.id = placed.id
    returning 1
  )
  select count(*) into numbered from written;
  if numbered < at_most then complete_until := horizon; end if;
end $$`);
    this.addSql(`
create function oldest_unnumbered_event() returns float8
language sql volatile security definer set search_path = public, pg_temp
as $$
  select greatest(0, extract(epoch from clock_timestamp() - min(written_at)))::float8 from events
  where sequence is null
$$`);
    for (const [name, roles] of [
      ['number_events(timestamptz, int)', 'parley_worker'],
      ['oldest_unnumbered_event()', 'parley_app, parley_worker'],
    ] as const) {
      this.addSql(`revoke all on function ${name} from public`);
      this.addSql(`grant execute on function ${name} to ${roles}`);
    }
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
