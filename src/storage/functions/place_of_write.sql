-- Returns the place of an event that is written now. The transaction becomes visible as an open write before the clock is read.
create or replace function place_of_write() returns bigint
language plpgsql as $$
begin
  perform pg_current_xact_id();
  return (select greatest((extract(epoch from clock_timestamp()) * 1000000)::bigint, last_value) from event_floor);
end $$;
grant execute on function place_of_write to parley_app, parley_worker;
