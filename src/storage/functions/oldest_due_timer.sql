-- Returns for how long the oldest due timer of a snoozed conversation has been due, in seconds.
create or replace function oldest_due_timer() returns float8
language sql security definer set search_path = public, pg_temp as $$
  select greatest(0, extract(epoch from clock_timestamp() - min(snoozed_until)))::float8
  from conversations where status = 'snoozed'
$$;
revoke all on function oldest_due_timer from public;
grant execute on function oldest_due_timer to parley_app;
