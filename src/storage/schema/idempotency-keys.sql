-- Replies to requests with an `Idempotency-Key`, for 24 hours.
create table idempotency_keys (
  tenant_id uuid not null,
  credential_id uuid not null,
  key text not null,
  request_hash text not null,
  status int,
  headers jsonb,
  body text,
  created_at timestamptz(3) not null,
  value_hash text,
  primary key (tenant_id, credential_id, key)
);
create index idempotency_keys_oldest on idempotency_keys (created_at);
alter table idempotency_keys enable row level security;
create policy one_tenant on idempotency_keys to parley_app using (tenant_id = :current_tenant);
grant select, insert, update, delete on idempotency_keys to parley_app;
