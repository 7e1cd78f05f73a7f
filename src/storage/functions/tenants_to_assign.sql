-- Returns the tenants whose rules have conversations to assign.
create or replace function tenants_to_assign() returns setof uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select tenant_id from assignment_rules where has_to_assign(tenant_id)
$$;
revoke all on function tenants_to_assign from public;
grant execute on function tenants_to_assign to parley_worker;
