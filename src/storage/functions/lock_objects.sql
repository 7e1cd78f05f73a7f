-- Locks the objects of events that still exist, and returns their ids. Each is looked up by its key: with a plan for an average
-- tenant, PostgreSQL would read all rows of a large one.
create or replace function lock_objects(tenant uuid, ids uuid[]) returns setof uuid
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  return query with wanted as materialized (select tenant as tenant_id, unnest(ids) as id)
    select answers.id from wanted join answers using (tenant_id, id) order by answers.id for key share of answers;
  return query with wanted as materialized (select tenant as tenant_id, unnest(ids) as id)
    select conversations.id from wanted join conversations using (tenant_id, id) order by conversations.id for key share of conversations;
  return query with wanted as materialized (select tenant as tenant_id, unnest(ids) as id)
    select messages.id from wanted join messages using (tenant_id, id) where not redacted order by messages.id for share of messages;
  return query with wanted as materialized (select tenant as tenant_id, unnest(ids) as id)
    select identities.id from wanted join identities using (tenant_id, id) order by identities.id for key share of identities;
end $$;
revoke all on function lock_objects from public;
grant execute on function lock_objects to parley_worker;
