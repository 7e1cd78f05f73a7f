-- Profiles of a tenant's users. Events refer to a profile by its `id`.
create table identities (
  tenant_id uuid not null,
  identity text collate "C" not null,
  identity_verified boolean not null,
  attributes jsonb not null,
  locale text,
  platform text,
  app_version text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  id uuid default gen_random_uuid(),
  primary key (tenant_id, identity, identity_verified)
) with (
  autovacuum_analyze_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_vacuum_scale_factor = 0.05
);
create index identities_changed on identities (tenant_id, updated_at);
create unique index identities_id on identities (tenant_id, id) where id is not null;
alter table identities enable row level security;
create policy one_tenant on identities to parley_app using (tenant_id = :current_tenant);
grant select, insert, update, delete on identities to parley_app;

-- The last changes of each profile, with values before and after. They belong to the id, so a profile that is created again has
-- none of them.
create table profile_changes (
  tenant_id uuid not null,
  identity_id uuid not null,
  number int not null,
  at timestamptz(3) not null,
  by jsonb not null,
  changes jsonb not null,
  primary key (tenant_id, identity_id, number)
);
create index profile_changes_by_age on profile_changes (at);
alter table profile_changes enable row level security;
create policy one_tenant on profile_changes to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on profile_changes to parley_worker using (true);
grant select, insert, update, delete on profile_changes to parley_app, parley_worker;
