-- Numbers the events that no open write can precede, of all tenants in one statement (docs/decisions/0047). One process at a time.
-- `floor` becomes certain once every transaction that was open when it was raised has ended.
create or replace function number_events(at_most int, out numbered int, out remain boolean, out has_held boolean)
language plpgsql security definer set search_path = public, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off set lock_timeout = '500ms' as $$
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
  has_held := exists (select from held_events);
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

  with fresh as materialized (select tenant_id, id, type, place, written_at from events
    where place >= state.numbered_until and place < state.settled_until
      and not exists (select from deleted_tenants where deleted_tenants.id = events.tenant_id)
      and not exists (select from held_events where held_events.tenant_id = events.tenant_id)
    order by place fetch first (at_most) rows with ties), placed as (
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
end $$;
revoke all on function number_events from public;
grant execute on function number_events to parley_worker;
