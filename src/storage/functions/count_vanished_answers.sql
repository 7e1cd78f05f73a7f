-- Returns the number of answers that vanished, of all tenants.
create or replace function count_vanished_answers() returns bigint
language sql stable security definer set search_path = public, pg_temp as $$
  select count(*) from vanished_answers
$$;
revoke all on function count_vanished_answers from public;
grant execute on function count_vanished_answers to parley_app;
