-- Returns the tenants with questions that are due by their schedule.
create or replace function tenants_to_schedule() returns setof uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select tenant_id from questions
  where end_at is not null and end_at <= clock_timestamp() and status in ('scheduled', 'live', 'paused')
  union
  select tenant_id from questions
  where status = 'scheduled' and (start_at is null or start_at <= clock_timestamp()) and (end_at is null or end_at > clock_timestamp())
  order by 1
$$;
revoke all on function tenants_to_schedule from public;
grant execute on function tenants_to_schedule to parley_worker;
