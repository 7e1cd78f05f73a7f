-- API keys of a tenant. The secret is encrypted, and the bearer token is stored as a hash.
create table api_keys (
  tenant_id uuid not null,
  id uuid not null,
  name text not null,
  kind text not null,
  scopes text[] not null,
  allowed_origins text[] not null,
  secret_sealed bytea not null,
  bearer_hash bytea,
  hint text not null,
  previous_secret_sealed bytea,
  previous_bearer_hash bytea,
  previous_valid_until timestamptz(3),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  primary key (tenant_id, id)
);
create unique index api_keys_id on api_keys (id);
alter table api_keys enable row level security;
create policy one_tenant on api_keys to parley_app using (tenant_id = :current_tenant);
grant select, insert, update, delete on api_keys to parley_app;
