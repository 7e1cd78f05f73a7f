-- Saved views of the inbox: a name, a filter and an order, of one member or shared with the team.
create table views (
  tenant_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  name text not null,
  filter jsonb not null,
  sort text not null,
  shared boolean not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (tenant_id, id)
);
alter table views enable row level security;
create policy one_tenant on views to parley_app using (tenant_id = :current_tenant);
grant select, insert, update, delete on views to parley_app;
