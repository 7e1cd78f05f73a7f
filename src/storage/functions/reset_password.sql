-- Sets a password with a link, which is used up. All sessions end. A mailed link proves the address.
create or replace function reset_password(hash bytea, new_hash text, at_time timestamptz) returns setof uuid
language plpgsql security definer set search_path = public, pg_temp as $$
declare used account_links;
begin
  delete from account_links where token_hash = hash and purpose = 'reset' and expires_at > at_time returning * into used;
  if used.account_id is null then return; end if;
  update accounts set password_hash = new_hash, email_proven_at = case
      when used.mailed and totp_confirmed_at is null then coalesce(email_proven_at, at_time) else email_proven_at end
    where id = used.account_id;
  delete from sessions where account_id = used.account_id;
  return next used.account_id;
end $$;
revoke all on function reset_password from public;
grant execute on function reset_password to parley_app;
