-- Finds the account of a subject at an identity provider, before an account is known.
create or replace function find_account_of_subject(of_issuer text, of_subject text) returns table (id uuid)
language sql stable security definer set search_path = public, pg_temp as $$
  select account_id from account_subjects where issuer = of_issuer and subject = of_subject
$$;
revoke all on function find_account_of_subject from public;
grant execute on function find_account_of_subject to parley_app;
