-- Replaces the link of a purpose for an account.
create or replace function make_account_link(
  of_purpose text, hash bytea, address text, until timestamptz, by_mail boolean default false
)
returns void
language sql security definer set search_path = public, pg_temp as $$
  delete from account_links where purpose = of_purpose
      and account_id is not distinct from (select id from accounts where email = address);
    insert into account_links (token_hash, purpose, account_id, expires_at, mailed)
    values (hash, of_purpose, (select id from accounts where email = address), until, by_mail)
$$;
revoke all on function make_account_link from public;
grant execute on function make_account_link to parley_app;
