-- Macros of the team: texts and changes of conversations.
create table macros (
  tenant_id uuid not null,
  id uuid not null,
  name text not null,
  shortcut text,
  body text,
  kind text not null,
  changes jsonb not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (tenant_id, id)
);
alter table macros enable row level security;
create policy one_tenant on macros to parley_app using (tenant_id = :current_tenant);
grant select, insert, update, delete on macros to parley_app;
