-- Returns the times at which keys end, for the worker, which has no right to read keys.
create or replace function key_times(key_ids uuid[])
returns table (id uuid, revoked_at timestamptz, expires_at timestamptz, previous_valid_until timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
  select k.id, k.revoked_at, k.expires_at, k.previous_valid_until from api_keys k
    where k.id = any(key_ids)
      and (k.revoked_at is not null or k.expires_at is not null or k.previous_valid_until is not null)
$$;
revoke all on function key_times from public;
grant execute on function key_times to parley_worker;
