-- Actions of the team. `parley_app` may insert and read entries; no role may change them.
create table audit_log (
  tenant_id uuid not null,
  id uuid not null,
  at timestamptz(3) not null,
  actor_type text not null,
  actor_id text,
  actor_name text not null,
  action text not null,
  target_id text,
  target_name text,
  fields text[] not null,
  ip text,
  request_id text,
  primary key (tenant_id, id)
) with (
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.02
);
create index audit_log_newest on audit_log (tenant_id, at, id);
alter table audit_log enable row level security;
create policy one_tenant on audit_log to parley_app using (tenant_id = :current_tenant);
grant select, insert on audit_log to parley_app;
