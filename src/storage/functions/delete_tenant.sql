-- Deletes the tenant of the transaction with its keys, its team, and the accounts that belong to no other tenant. Returns the
-- numbers of rows. The other rows are left to `erase_deleted_tenant`.
create or replace function delete_tenant() returns jsonb
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  doomed uuid := nullif(current_setting('parley.tenant', true), '')::uuid;
  persons uuid[];
  deleted jsonb;
begin
  perform from tenants where id = doomed for update;
  if not found then return null; end if;
  insert into deleted_tenants values (doomed, clock_timestamp());
  perform from accounts where id in (select account_id from members where tenant_id = doomed) order by id for update;
  select array_agg(account_id) into persons from members where tenant_id = doomed and not exists (
    select from members other where other.account_id = members.account_id and other.tenant_id <> doomed);
  with keys as (delete from api_keys where tenant_id = doomed returning 1),
    team as (delete from members where tenant_id = doomed returning 1),
    invited as (delete from invitations where tenant_id = doomed returning 1),
    opened as (delete from sessions where account_id = any(persons) returning 1),
    links as (delete from account_links where account_id = any(persons) returning 1),
    subjects as (delete from account_subjects where account_id = any(persons) returning 1),
    left_alone as (delete from accounts where id = any(persons) returning 1),
    itself as (delete from tenants where id = doomed returning 1)
  select jsonb_build_object(
    'tenants', (select count(*) from itself), 'api_keys', (select count(*) from keys),
    'members', (select count(*) from team), 'invitations', (select count(*) from invited),
    'accounts', (select count(*) from left_alone), 'sessions', (select count(*) from opened),
    'account_links', (select count(*) from links), 'account_subjects', (select count(*) from subjects)
  ) into deleted;
  return deleted;
end $$;
revoke all on function delete_tenant from public;
grant execute on function delete_tenant to parley_app;
