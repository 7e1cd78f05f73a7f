-- Numbers the events of a tenant that `hold_events` has excluded.
create or replace function number_held_events(tenant uuid, at_most int, out numbered int, out remain boolean)
language plpgsql security definer set search_path = public, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off set lock_timeout = '500ms' as $$
declare
  state event_numbering;
  held held_events;
  reached bigint;
begin
  numbered := 0;
  remain := true;
  if not pg_try_advisory_xact_lock(hashtextextended('number events', 0)) then return; end if;
  select * into strict state from event_numbering;
  select * into held from held_events where tenant_id = tenant;
  with passed as materialized (
    select tenant_id, id, type, place, written_at from events
    where place >= held.numbered_until and place < state.numbered_until
    order by place fetch first (at_most) rows with ties
  ), fresh as (
    select * from passed where tenant_id = tenant and not exists (select from deleted_tenants where deleted_tenants.id = tenant)
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
  select coalesce(sum(cardinality(ids)), 0), (select max(place) + 1 from passed having count(*) >= at_most)
  into numbered, reached from batched;
  remain := reached is not null;
  update held_events set numbered_until = coalesce(reached, state.numbered_until) where tenant_id = tenant;
  if not remain then
    delete from held_events where tenant_id = tenant and last_place < state.numbered_until;
  end if;
end $$;
revoke all on function number_held_events from public;
grant execute on function number_held_events to parley_worker;
