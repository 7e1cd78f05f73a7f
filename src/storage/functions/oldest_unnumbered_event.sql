-- Returns the age of the oldest event without a number, in seconds.
create or replace function oldest_unnumbered_event() returns float8
language sql security definer set search_path = public, pg_temp as $$
  select greatest(0, extract(epoch from clock_timestamp() - least(
    (select written_at from events where place >= (select numbered_until from event_numbering) order by place limit 1),
    (select min(held_at) from held_events)
  )))::float8
$$;
revoke all on function oldest_unnumbered_event from public;
grant execute on function oldest_unnumbered_event to parley_app, parley_worker;
