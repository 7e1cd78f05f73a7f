-- The rules by which a tenant's conversations are assigned (docs/decisions/0050).
create table assignment_rules (
  tenant_id uuid primary key,
  version int not null,
  rules jsonb not null,
  turns jsonb not null,
  new_since timestamptz(3)
);
alter table assignment_rules enable row level security;
create policy one_tenant on assignment_rules to parley_app using (tenant_id = :current_tenant);
grant select, insert, update, delete on assignment_rules to parley_app;
