-- Finds many sessions by the hashes of their tokens, each with the membership in a tenant.
create or replace function find_sessions(hashes bytea[], of_tenants uuid[])
returns table (
  place int, id uuid, account_id uuid, email text, name text, created_at timestamptz, last_seen_at timestamptz,
  expires_at timestamptz, member_id uuid, role text
)
language sql stable security definer set search_path = public, pg_temp as $$
  select asked.place::int, s.id, a.id, a.email, a.name, s.created_at, s.last_seen_at, s.expires_at, m.id, m.role
    from unnest(hashes, of_tenants) with ordinality as asked(hash, of_tenant, place)
    join sessions s on s.token_hash = asked.hash join accounts a on a.id = s.account_id
    left join members m on m.tenant_id = asked.of_tenant and m.account_id = a.id
$$;
revoke all on function find_sessions from public;
grant execute on function find_sessions to parley_app;
