-- Deletes old answers to previews, and returns their number.
create or replace function forget_test_answers(before timestamptz) returns bigint
language sql security definer set search_path = public, pg_temp as $$
  with gone as (delete from test_answers where received_at < before returning 1) select count(*) from gone
$$;
revoke all on function forget_test_answers from public;
grant execute on function forget_test_answers to parley_app;
