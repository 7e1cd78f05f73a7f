-- Returns the start of the oldest transaction that has written. Incremental reads end there (docs/decisions/0012).
create or replace function oldest_open_write() returns timestamptz
language sql security definer set search_path = public, pg_temp as $$
  select least(min(xact_start), statement_timestamp()) from pg_stat_activity
    where datname = current_database() and backend_xid is not null and pid <> pg_backend_pid()
$$;
revoke all on function oldest_open_write from public;
grant execute on function oldest_open_write to parley_app, parley_worker;
