-- Returns encrypted values, to check that `SECRET_KEY` decrypts them.
create or replace function sealed_samples(at_most int) returns table (context text, sealed bytea)
language sql stable security definer set search_path = public, pg_temp as $$
  (select id::text, secret_sealed from api_keys where revoked_at is null order by created_at, id limit at_most)
    union all
    (select id::text, totp_sealed from accounts where totp_sealed is not null order by created_at, id limit at_most)
$$;
revoke all on function sealed_samples from public;
grant execute on function sealed_samples to parley_app;
