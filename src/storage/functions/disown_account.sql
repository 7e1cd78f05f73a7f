-- Deletes the account with the address of an invitation, if the address is not proven. Returns its memberships.
create or replace function disown_account(hash bytea, at_time timestamptz)
returns table (of_tenant uuid, member_id uuid)
language plpgsql security definer set search_path = public, pg_temp as $$
declare whose uuid;
begin
  select a.id into whose from invitations i join accounts a on a.email = i.email
  where i.mailed_token_hash = hash and i.expires_at > at_time and a.email_proven_at is null for update of a;
  if whose is null then return; end if;
  return query delete from members m where m.account_id = whose returning m.tenant_id, m.id;
  delete from sessions where account_id = whose;
  delete from account_links where account_id = whose;
  delete from account_subjects where account_id = whose;
  delete from accounts where id = whose;
end $$;
revoke all on function disown_account from public;
grant execute on function disown_account to parley_app;
