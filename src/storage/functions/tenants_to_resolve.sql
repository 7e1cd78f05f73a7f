-- Returns the tenants with conversations that `resolve_pending_conversations` would resolve.
create or replace function tenants_to_resolve() returns setof uuid
language sql stable security definer set search_path = public, pg_temp as $$
  select id from tenants where auto_resolve_days is not null and (
    select true from conversations where tenant_id = tenants.id and status = 'pending'
        and last_activity_at < clock_timestamp() - make_interval(days => auto_resolve_days)
        and team_updated_at < clock_timestamp() - make_interval(days => auto_resolve_days) order by last_activity_at limit 1)
  order by id
$$;
revoke all on function tenants_to_resolve from public;
grant execute on function tenants_to_resolve to parley_worker;
