-- Finds the credentials of an account by its address, before the account is known.
create or replace function find_login(address text)
returns table (
  id uuid, email text, name text, password_hash text, totp_sealed bytea, totp_confirmed_at timestamptz, totp_last_step
  int, recovery_hashes text[]
)
language sql stable security definer set search_path = public, pg_temp as $$
  select a.id, a.email, a.name, a.password_hash, a.totp_sealed, a.totp_confirmed_at, a.totp_last_step,
    a.recovery_hashes from accounts a where a.email = address
$$;
revoke all on function find_login from public;
grant execute on function find_login to parley_app;
