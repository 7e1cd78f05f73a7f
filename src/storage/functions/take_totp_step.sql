-- Uses up a step of the account's TOTP, so that a code is valid once. Returns whether it was unused.
create or replace function take_totp_step(step int) returns boolean
language sql security definer set search_path = public, pg_temp as $$
  with taken as (
      update accounts set totp_last_step = step
      where id = nullif(current_setting('parley.account', true), '')::uuid and (totp_last_step is null or totp_last_step < step) returning 1
    )
    select exists (select from taken)
$$;
revoke all on function take_totp_step from public;
grant execute on function take_totp_step to parley_app;
