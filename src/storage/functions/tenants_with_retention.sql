-- Returns the tenants with a retention.
create or replace function tenants_with_retention() returns setof uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select id from tenants
    where retention_answers_days is not null or retention_conversations_days is not null order by id
$$;
revoke all on function tenants_with_retention from public;
grant execute on function tenants_with_retention to parley_worker;
