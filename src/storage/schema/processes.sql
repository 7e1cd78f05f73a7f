-- The running processes, each with its version and the schema that it needs.
create table processes (
  id uuid primary key,
  role text not null,
  version text not null,
  schema int not null,
  seen_at timestamptz(3) not null
);
grant select, insert, update, delete on processes to parley_app, parley_worker;
