-- Returns the ids of all tenants.
create or replace function tenant_ids() returns setof uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select id from tenants
$$;
revoke all on function tenant_ids from public;
grant execute on function tenant_ids to parley_app;
