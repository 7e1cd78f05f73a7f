-- Uses up the setup link. Returns whether it was valid, and there is no owner yet.
create or replace function take_setup_link(hash bytea, at_time timestamptz) returns boolean
language sql security definer set search_path = public, pg_temp as $$
  with taken as (
      delete from account_links where token_hash = hash and purpose = 'setup' and expires_at > at_time returning 1
    )
    select exists (select from taken) and not exists (select from members where role = 'owner')
$$;
revoke all on function take_setup_link from public;
grant execute on function take_setup_link to parley_app;
