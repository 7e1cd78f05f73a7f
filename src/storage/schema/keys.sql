-- Derived keys, encrypted. They outlive `SECRET_KEY`, so that it can be replaced.
create table lasting_keys (
  purpose text primary key,
  key_sealed bytea not null,
  created_at timestamptz(3) not null
);
grant select, insert on lasting_keys to parley_app;
