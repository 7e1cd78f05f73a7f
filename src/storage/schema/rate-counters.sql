-- Counts of requests by window, where the limits of all processes are added up in PostgreSQL. Unlogged: a crash resets them.
create unlogged table rate_counters (
  key text primary key,
  count bigint not null,
  expires_at timestamptz(3) not null
);
grant select, insert, update, delete on rate_counters to parley_app;
