-- Records when API keys were last used.
create or replace function touch_api_keys(key_ids uuid[], used_at timestamptz) returns void
language sql security definer set search_path = public, pg_temp as $$
  update api_keys set last_used_at = used_at
  where id = any(key_ids) and (last_used_at is null or last_used_at < used_at)
$$;
revoke all on function touch_api_keys from public;
grant execute on function touch_api_keys to parley_app, parley_worker;
