-- Uses up a recovery code of the account of the transaction. Returns whether it was valid.
create or replace function take_recovery_code(code_hash text) returns boolean
language sql security definer set search_path = public, pg_temp as $$
  with taken as (
      update accounts set recovery_hashes = array_remove(recovery_hashes, code_hash)
      where id = nullif(current_setting('parley.account', true), '')::uuid and code_hash = any(recovery_hashes) returning 1
    )
    select exists (select from taken)
$$;
revoke all on function take_recovery_code from public;
grant execute on function take_recovery_code to parley_app;
