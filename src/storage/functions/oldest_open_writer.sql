-- Returns the session that delays incremental reads: the writer behind `oldest_open_write()`, without its statements.
create or replace function oldest_open_writer() returns table (pid int, username text, application text, age_s float8)
language sql security definer set search_path = public, pg_temp as $$
  select pid, usename::text, application_name, extract(epoch from clock_timestamp() - xact_start)::float8
    from pg_stat_activity
    where datname = current_database() and backend_xid is not null and pid <> pg_backend_pid()
    order by xact_start limit 1
$$;
revoke all on function oldest_open_writer from public;
grant execute on function oldest_open_writer to parley_app;
