import { Migration } from '@mikro-orm/migrations';

/**
 * The number of an event is its place in a batch of ids, one row of `event_batches`, instead of a column of the event,
 * whose update cost as much as two further rows (docs/decisions/0047).
 *
 * An event is found by its place: the time in microseconds since 1970, but at least the floor (`event_floor`), which each
 * numbering raises first. So its place is after the numbered ones, even if a clock steps back, and its time is the clock's.
 */
export class EventBatches extends Migration {
  override up(): void {
    this.createTables();
    this.createFloor();
    this.convertNumbers();
    this.numberEvents();
  }

  private createTables(): void {
    this.addSql(`
create table event_batches (
  tenant_id uuid not null,
  last bigint not null,
  ids uuid[] not null,
  types text[] not null,
  written_until timestamptz(6) not null,
  primary key (tenant_id, last)
)`);
    this.addSql('create index event_batches_by_time on event_batches (tenant_id, written_until, last)');
    this.addSql('alter table event_batches enable row level security');
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    this.addSql(`create policy one_tenant on event_batches to parley_app using (tenant_id = ${tenant})`);
    this.addSql('create policy every_tenant on event_batches to parley_worker using (true)');
    this.addSql('grant select on event_batches to parley_app');
    this.addSql('grant select, insert, update, delete on event_batches to parley_worker');
    this.addSql(`
create table event_numbering (
  is_only boolean primary key default true check (is_only),
  numbered_until bigint not null,
  settled_until bigint not null,
  floor bigint not null,
  floor_set_by bigint not null
)`);
  }

  /**
   * The floor is the value of a sequence, because every transaction sees a new one at once.
   *
   * `place_of_write` allocates the transaction's id before it reads the floor. So a transaction that read an earlier floor is
   * among the open writes that numbering finds after it has raised the floor.
   */
  private createFloor(): void {
    this.addSql('create sequence event_floor minvalue 0 start 0');
    this.addSql('grant select on sequence event_floor to parley_app, parley_worker');
    this.addSql(`
create function place_of_write() returns bigint language plpgsql volatile as $$
begin
  perform pg_current_xact_id();
  return (select greatest((extract(epoch from clock_timestamp()) * 1000000)::bigint, last_value) from event_floor);
end $$`);
  }

  /**
   * Makes batches of the events that have numbers, and then, while no event can be written, of the rest. Only builds between
   * two releases have written any.
   */
  private convertNumbers(): void {
    const convert = (which: string) => `
insert into event_batches
select tenant_id, max(number), array_agg(id order by number), array_agg(type order by number), max(written_at) from (
  select *, number - row_number() over (partition by tenant_id order by number) as run from (
    select tenant_id, id, type, written_at,
      coalesce(sequence, coalesce(known.last, 0) + row_number() over (partition by tenant_id, sequence is null order by written_at, ordinal)) as number
    from events left join event_sequences as known using (tenant_id)
      left join (select tenant_id, max(last) as batched from event_batches group by tenant_id) as done using (tenant_id)
    where ${which}
  ) as numbered
) as ordered
group by tenant_id, run, (number - 1) / 50`;
    this.addSql(convert('sequence is not null'));
    this.addSql('lock table events in share row exclusive mode');
    this.addSql(convert('sequence is null or sequence > coalesce(batched, 0)'));
    this.addSql(`
insert into event_sequences select tenant_id, max(last) from event_batches group by tenant_id
on conflict (tenant_id) do update set last = excluded.last`);
    this.addSql('alter table events drop column sequence'); // with its indexes; earlier builds still write `ordinal`
    this.addSql('alter table events add column place bigint not null default 0');
    this.addSql('alter table events alter column place set default place_of_write()');
    this.addSql('create index events_in_place on events (place)');
    this.addSql(`insert into event_numbering values (true, 1, 1, 1, 0)`);
  }

  /**
   * `number_events` numbers the events that no open write can precede, and returns their count, and whether events remain.
   * One process at a time numbers events; for others the count is 0.
   *
   * The lock is taken before the statements that read, so that their snapshots contain all earlier numbers. It is released
   * after the commit, and works behind a pooler in transaction mode.
   *
   * After raising the floor, all events before it are known if no write is open. Otherwise those before the floor of an
   * earlier run are, once all writes have ended that began before that run (`floor_set_by`, its transaction id). An id
   * that is not reached yet comes from another server: the database was restored.
   */
  private numberEvents(): void {
    this.addSql('drop function number_events(timestamptz, int)');
    this.addSql(`
create function number_events(at_most int, out numbered int, out remain boolean)
language plpgsql security definer set search_path = public, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  state event_numbering;
  raised bigint;
  own bigint;
  oldest_open bigint;
  last_place bigint;
begin
  numbered := 0;
  select * into strict state from event_numbering;
  perform from events where place >= state.numbered_until limit 1;
  remain := found;
  if not remain or not pg_try_advisory_xact_lock(hashtextextended('number events', 0)) then return; end if;
  select * into strict state from event_numbering;

  select setval('event_floor', greatest((extract(epoch from clock_timestamp()) * 1000000)::bigint, last_value + 1))
    into raised from event_floor;
  own := pg_current_xact_id()::text::bigint;
  select min(own - age(backend_xid)) into oldest_open from pg_stat_activity
    where datname = current_database() and backend_xid is not null and pid <> pg_backend_pid();
  if oldest_open is null then
    state.settled_until := raised;
  elsif state.floor_set_by <= least(oldest_open, own) then
    state.settled_until := greatest(state.settled_until, state.floor);
  end if;
  if oldest_open is null or state.floor_set_by <= oldest_open or state.floor_set_by > own then
    state.floor := raised;
    state.floor_set_by := own;
  end if;

  with fresh as materialized (
    select tenant_id, id, type, place, written_at from events
    where place >= state.numbered_until and place < state.settled_until
      and not exists (select from deleted_tenants where deleted_tenants.id = events.tenant_id)
    order by place fetch first (at_most) rows with ties
  ), placed as (
    select tenant_id, fresh.id, type, place, written_at,
      coalesce(known.last, 0) + row_number() over (partition by tenant_id order by place, fresh.id) as number
    from fresh left join event_sequences as known using (tenant_id)
  ), batched as materialized (
    select tenant_id, max(number) as last, array_agg(id order by number) as ids, array_agg(type order by number) as types,
      max(written_at) as written_until, max(place) as last_place
    from placed group by tenant_id, (number - 1) / 50
  ), listed as (
    insert into event_batches select tenant_id, last, ids, types, written_until from batched
  ), reached as (
    insert into event_sequences select tenant_id, max(last) from batched group by tenant_id order by tenant_id
    on conflict (tenant_id) do update set last = excluded.last
  )
  select coalesce(sum(cardinality(ids)), 0), max(batched.last_place) into numbered, last_place from batched;
  state.numbered_until := case when numbered < at_most then state.settled_until else last_place + 1 end;
  update event_numbering set numbered_until = state.numbered_until, settled_until = state.settled_until,
    floor = state.floor, floor_set_by = state.floor_set_by;
  perform from events where place >= state.numbered_until limit 1;
  remain := found;
end $$`);
    this.addSql(`
create or replace function oldest_unnumbered_event() returns float8
language sql volatile security definer set search_path = public, pg_temp
as $$
  select greatest(0, extract(epoch from clock_timestamp() - (
    select written_at from events where place >= (select numbered_until from event_numbering) order by place limit 1
  )))::float8
$$`);
    this.addSql('revoke all on function number_events(int) from public');
    this.addSql('grant execute on function number_events(int) to parley_worker');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
