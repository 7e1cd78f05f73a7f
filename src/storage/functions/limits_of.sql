-- Returns the response limits of questions of any tenants, with the time zone of their periods.
create or replace function limits_of(tenants uuid[], questions uuid[])
returns table (tenant_id uuid, question_id uuid, max int, per text, timezone text)
language sql stable security definer set search_path = public, pg_temp as $$
  select q.tenant_id, q.id, (q.response_limit->>'count')::int, q.response_limit->>'per', t.timezone
  from (select unnest(tenants) as tenant_id, unnest(questions) as id) as asked
  join questions q using (tenant_id, id) join tenants t on t.id = q.tenant_id
  where jsonb_typeof(q.response_limit) = 'object'
$$;
revoke all on function limits_of from public;
grant execute on function limits_of to parley_worker;
