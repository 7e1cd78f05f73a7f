-- Finds an invitation by the hash of either of its tokens, before account or tenant are known.
create or replace function find_invitation(hash bytea)
returns table (
  tenant_id uuid, id uuid, tenant_name text, email text, role text, expires_at timestamptz, is_mailed boolean,
  account_id uuid, is_proven boolean
)
language sql stable security definer set search_path = public, pg_temp as $$
  select i.tenant_id, i.id, t.name, i.email, i.role, i.expires_at, i.mailed_token_hash is not distinct from hash,
      a.id, a.email_proven_at is not null
    from invitations i join tenants t on t.id = i.tenant_id left join accounts a on a.email = i.email
    where i.token_hash = hash or i.mailed_token_hash = hash
$$;
revoke all on function find_invitation from public;
grant execute on function find_invitation to parley_app;
