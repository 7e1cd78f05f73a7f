-- Returns the time, after the transaction has become visible as an open write, as `openWrite` does.
create or replace function time_of_write() returns timestamptz
language sql
return case when pg_current_xact_id() is not null then clock_timestamp() end;
grant execute on function time_of_write to parley_app, parley_worker;
