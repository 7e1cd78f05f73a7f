-- Whether the installation has an owner.
create or replace function has_owner() returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select exists (select from members where role = 'owner')
$$;
revoke all on function has_owner from public;
grant execute on function has_owner to parley_app;
