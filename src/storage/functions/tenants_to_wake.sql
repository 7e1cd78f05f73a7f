-- Returns the tenants with snoozed conversations that are due.
create or replace function tenants_to_wake() returns setof uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select id from tenants
  where (
      select true from conversations
      where status = 'snoozed' and snoozed_until <= clock_timestamp() order by snoozed_until limit 1
    )
    and (
      select true from conversations
      where tenant_id = tenants.id and status = 'snoozed' and snoozed_until <= clock_timestamp() order by snoozed_until limit 1
    )
  order by id
$$;
revoke all on function tenants_to_wake from public;
grant execute on function tenants_to_wake to parley_worker;
