-- A tenant and its settings.
create table tenants (
  id uuid primary key,
  name text not null,
  cooldown_days int not null default 7,
  created_at timestamptz(3) not null,
  default_locale text not null default 'en',
  locales text[] not null default '{en}',
  timezone text not null default 'UTC',
  ip_mode text not null default 'none',
  retention_answers_days int,
  retention_conversations_days int,
  identity_attributes_allowed text[] not null default '{}',
  results_fixed_before date,
  first_card_at timestamptz(3),
  appearance jsonb not null default '{}',
  auto_resolve_days int,
  is_demo boolean not null default false,
  office_hours jsonb not null default '[]',
  reply_targets jsonb not null default '{}',
  custom_fields jsonb not null default '[]'
);
alter table tenants enable row level security;
create policy one_tenant on tenants to parley_app using (id = :current_tenant);
create policy own on tenants for select to parley_app using (id in (select tenant_id from members where account_id = :current_account));
grant select, insert, update, delete on tenants to parley_app;

-- Permanently deleted tenants: data that still arrives for them is dropped (docs/decisions/0024).
create table deleted_tenants (
  id uuid primary key,
  deleted_at timestamptz(3) not null
);
grant select on deleted_tenants to parley_app, parley_worker;

-- A mark of a tenant for a loop of the worker. Once a loop has taken it, writes set another one (docs/decisions/0051).
create table marked_tenants (
  tenant_id uuid not null,
  kind text not null,
  id uuid not null default gen_random_uuid(),
  marked_at timestamptz(3) not null default clock_timestamp(),
  taken boolean not null default false,
  taken_before bigint,
  primary key (tenant_id, kind, id)
);
alter table marked_tenants enable row level security;
create policy one_tenant on marked_tenants to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on marked_tenants to parley_worker using (true);
grant select, insert, update, delete on marked_tenants to parley_app, parley_worker;
