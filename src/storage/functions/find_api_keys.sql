-- Finds many API keys at once, so that made-up credentials do not cost a statement each.
create or replace function find_api_keys(key_ids uuid[]) returns setof api_keys
language sql stable security definer set search_path = public, pg_temp as $$
  select * from api_keys where id = any(key_ids)
$$;
revoke all on function find_api_keys from public;
grant execute on function find_api_keys to parley_app;
