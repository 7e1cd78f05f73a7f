-- The newest complete backup by `parley backup`; at most one row.
create table last_backup (
  is_only boolean primary key default true check (is_only),
  complete_until timestamptz(3) not null,
  finished_at timestamptz(3) not null
);
grant select on last_backup to parley_app;
