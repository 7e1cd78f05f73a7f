-- Excludes the tenants of the next events from the common numbering, which failed (docs/decisions/0051).
create or replace function hold_events(at_most int) returns void
language plpgsql security definer set search_path = public, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  state event_numbering;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('number events', 0)) then return; end if;
  select * into strict state from event_numbering;
  insert into held_events
  select tenant_id, state.numbered_until, max(place) from (select tenant_id, id, type, place, written_at from events
    where place >= state.numbered_until 
      and not exists (select from deleted_tenants where deleted_tenants.id = events.tenant_id)
      and not exists (select from held_events where held_events.tenant_id = events.tenant_id)
    order by place fetch first (at_most) rows with ties) as next
  group by tenant_id order by tenant_id;
end $$;
revoke all on function hold_events from public;
grant execute on function hold_events to parley_worker;
