-- Deletes ended sessions, links and invitations.
create or replace function forget_ended_sessions(at_time timestamptz, idle interval) returns void
language sql security definer set search_path = public, pg_temp as $$
  delete from sessions where expires_at < at_time or last_seen_at < at_time - idle;
    delete from account_links where expires_at < at_time;
    delete from invitations where expires_at < at_time
$$;
revoke all on function forget_ended_sessions from public;
grant execute on function forget_ended_sessions to parley_app;
