-- Row-level security and the grants of each table limit what the roles may do.
grant usage on schema public to parley_app, parley_worker;

-- The versions of the schema, each with the oldest version whose processes run on it. `migrate` adds the newest one.
create table schema_state (
  version int primary key,
  oldest_compatible int not null
);
grant select on schema_state to parley_app, parley_worker;
