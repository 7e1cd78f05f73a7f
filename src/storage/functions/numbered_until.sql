-- Returns the place before which all events have numbers.
create or replace function numbered_until() returns text
language sql stable security definer set search_path = public, pg_temp as $$
  select numbered_until::text from event_numbering
$$;
revoke all on function numbered_until from public;
grant execute on function numbered_until to parley_worker;
