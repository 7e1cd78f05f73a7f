-- Finds an API key before its tenant is known.
create or replace function find_api_key(key_id uuid) returns setof api_keys
language sql stable security definer set search_path = public, pg_temp as $$
  select * from api_keys where id = key_id
$$;
revoke all on function find_api_key from public;
grant execute on function find_api_key to parley_app, parley_worker;
