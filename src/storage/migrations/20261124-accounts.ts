import { Migration } from '@mikro-orm/migrations';

const TENANT = `nullif(current_setting('parley.tenant', true), '')::uuid`;
const ACCOUNT = `nullif(current_setting('parley.account', true), '')::uuid`;
/** The same, escaped for a function's text. */
const ACCOUNT_IN_TEXT = ACCOUNT.replaceAll("'", "''");

/**
 * Functions for use before account or tenant are known. They run with the owner's rights, each as narrow as possible.
 */
const DEFINER_FUNCTIONS = [
  'find_login(text)',
  'find_session(bytea, uuid)',
  'find_invitation(bytea)',
  'find_account_of_subject(text, text)',
  'has_owner()',
  'make_account_link(text, bytea, text, timestamptz)',
  'take_setup_link(bytea, timestamptz)',
  'reset_password(bytea, text, timestamptz)',
  'take_totp_step(int)',
  'take_recovery_code(text)',
  'forget_ended_sessions(timestamptz, interval)',
];

/**
 * Persons as separate accounts, which belong to tenants as members; their sessions; the audit log
 * (docs/decisions/0018).
 *
 * It only expands: `members.email` and `members.password_hash` stay for processes of the previous version, and the
 * trigger `fill_account` creates accounts for the members that these insert. The next version removes the columns and
 * the trigger.
 */
export class Accounts extends Migration {
  override up(): void {
    this.createAccounts();
    this.moveMembers();
    this.createTenantTables();
    this.raiseWalls();
    this.createLookUps();
    this.createActs();
    for (const name of DEFINER_FUNCTIONS) {
      this.addSql(`revoke all on function ${name} from public`);
      this.addSql(`grant execute on function ${name} to parley_app`);
    }
    this.addSql('insert into schema_state values (4, 1)');
  }

  private createAccounts(): void {
    this.addSql(`
create table accounts (
  id uuid primary key,
  email text not null constraint accounts_email_key unique,
  name text not null,
  password_hash text,
  totp_sealed bytea,
  totp_confirmed_at timestamptz(3),
  totp_last_step int,
  recovery_hashes text[] not null,
  created_at timestamptz(3) not null
)`);
    this.addSql(`
create table account_subjects (
  issuer text not null,
  subject text not null,
  account_id uuid not null,
  created_at timestamptz(3) not null,
  primary key (issuer, subject)
)`);
    this.addSql(`
create table account_links (
  token_hash bytea primary key,
  purpose text not null,
  account_id uuid,
  expires_at timestamptz(3) not null
)`);
    this.addSql(`
create table sessions (
  id uuid primary key,
  account_id uuid not null,
  token_hash bytea not null constraint sessions_token_hash_key unique,
  user_agent text not null,
  ip text not null,
  created_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
)`);
    this.addSql('create index sessions_of_account on sessions (account_id)');
  }

  /** Merges members with the same address into one person, with the password that was set last. */
  private moveMembers(): void {
    this.addSql(`
insert into accounts (id, email, name, password_hash, recovery_hashes, created_at)
select distinct on (email) gen_random_uuid(), email, '', password_hash, '{}', created_at
from members order by email, created_at desc`);
    this.addSql('alter table members add column account_id uuid');
    this.addSql('update members set account_id = accounts.id from accounts where accounts.email = members.email');
    this.addSql('alter table members alter column account_id set not null');
    this.addSql('alter table members alter column email drop not null, alter column password_hash drop not null');
    this.addSql('alter table members add constraint members_account_key unique (tenant_id, account_id)');
    this.addSql('create index members_of_account on members (account_id)');
    this.addSql(`
create function fill_account() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if new.account_id is null then
    insert into accounts (id, email, name, password_hash, recovery_hashes, created_at)
    values (gen_random_uuid(), new.email, '', new.password_hash, '{}', new.created_at)
    on conflict (email) do nothing;
    select id into new.account_id from accounts where email = new.email;
  end if;
  return new;
end $$`);
    this.addSql('revoke all on function fill_account() from public');
    this.addSql('create trigger fill_account before insert on members for each row execute function fill_account()');
  }

  private createTenantTables(): void {
    this.addSql(`
alter table tenants
  add column default_locale text not null default 'en',
  add column locales text[] not null default '{en}',
  add column timezone text not null default 'UTC',
  add column ip_mode text not null default 'none'`);
    this.addSql(`
create table invitations (
  tenant_id uuid not null,
  id uuid not null,
  email text not null,
  role text not null,
  token_hash bytea not null constraint invitations_token_hash_key unique,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  primary key (tenant_id, id),
  constraint invitations_email_key unique (tenant_id, email)
)`);
    this.addSql(`
create table audit_log (
  tenant_id uuid not null,
  id uuid not null,
  at timestamptz(3) not null,
  actor_type text not null,
  actor_id text,
  actor_name text not null,
  action text not null,
  target_id text,
  target_name text,
  fields text[] not null,
  ip text,
  request_id text,
  primary key (tenant_id, id)
)`);
    this.addSql('create index audit_log_newest on audit_log (tenant_id, at, id)');
  }

  /** A person sees only their own rows. A tenant sees its members, without passwords and authenticators. */
  private raiseWalls(): void {
    for (const table of ['accounts', 'account_subjects', 'account_links', 'sessions', 'invitations', 'audit_log'])
      this.addSql(`alter table ${table} enable row level security`);
    const own = (table: string, column: string) =>
      this.addSql(`create policy one_account on ${table} to parley_app using (${column} = ${ACCOUNT})`);
    own('accounts', 'id');
    own('account_subjects', 'account_id');
    own('sessions', 'account_id');
    this.addSql(`create policy own on members for select to parley_app using (account_id = ${ACCOUNT})`);
    this.addSql(`
create policy own on tenants for select to parley_app
using (id in (select tenant_id from members where account_id = ${ACCOUNT}))`);
    this.addSql(`
create policy team on accounts for select to parley_app
using (id in (select account_id from members where tenant_id = ${TENANT}))`);
    for (const table of ['invitations', 'audit_log'])
      this.addSql(`create policy one_tenant on ${table} to parley_app using (tenant_id = ${TENANT})`);
    this.addSql(`
grant select (id, email, name, totp_confirmed_at, created_at), insert,
  update (name, password_hash, totp_sealed, totp_confirmed_at, totp_last_step, recovery_hashes)
on accounts to parley_app`);
    this.addSql('grant select, insert on account_subjects to parley_app');
    this.addSql('grant select, insert, update (last_seen_at), delete on sessions to parley_app');
    this.addSql('grant select, insert, update, delete on invitations to parley_app');
    this.addSql('grant select, insert on audit_log to parley_app');
  }

  private createLookUps(): void {
    this.addSql(`
create function find_login(address text) returns table (
  id uuid, email text, name text, password_hash text, totp_sealed bytea, totp_confirmed_at timestamptz,
  totp_last_step int, recovery_hashes text[]
)
language sql stable security definer set search_path = public, pg_temp
as 'select a.id, a.email, a.name, a.password_hash, a.totp_sealed, a.totp_confirmed_at, a.totp_last_step,
      a.recovery_hashes from accounts a where a.email = address'`);
    this.addSql(`
create function find_session(hash bytea, of_tenant uuid) returns table (
  id uuid, account_id uuid, email text, name text, created_at timestamptz, last_seen_at timestamptz,
  expires_at timestamptz, member_id uuid, role text
)
language sql stable security definer set search_path = public, pg_temp
as 'select s.id, a.id, a.email, a.name, s.created_at, s.last_seen_at, s.expires_at, m.id, m.role
    from sessions s join accounts a on a.id = s.account_id
    left join members m on m.tenant_id = of_tenant and m.account_id = a.id
    where s.token_hash = hash'`);
    this.addSql(`
create function find_invitation(hash bytea) returns table (
  tenant_id uuid, id uuid, tenant_name text, email text, role text, expires_at timestamptz, account_id uuid
)
language sql stable security definer set search_path = public, pg_temp
as 'select i.tenant_id, i.id, t.name, i.email, i.role, i.expires_at, a.id
    from invitations i join tenants t on t.id = i.tenant_id left join accounts a on a.email = i.email
    where i.token_hash = hash'`);
    this.addSql(`
create function find_account_of_subject(of_issuer text, of_subject text) returns table (id uuid)
language sql stable security definer set search_path = public, pg_temp
as 'select account_id from account_subjects where issuer = of_issuer and subject = of_subject'`);
    this.addSql(`
create function has_owner() returns boolean
language sql stable security definer set search_path = public, pg_temp
as 'select exists (select from members where role = ''owner'')'`);
  }

  /** One link per purpose and person. Each can be redeemed once. */
  private createActs(): void {
    this.addSql(`
create function make_account_link(of_purpose text, hash bytea, address text, until timestamptz) returns void
language sql security definer set search_path = public, pg_temp
as 'delete from account_links where purpose = of_purpose
      and account_id is not distinct from (select id from accounts where email = address);
    insert into account_links (token_hash, purpose, account_id, expires_at)
    values (hash, of_purpose, (select id from accounts where email = address), until)'`);
    this.addSql(`
create function take_setup_link(hash bytea, at_time timestamptz) returns boolean
language sql security definer set search_path = public, pg_temp
as 'with taken as (
      delete from account_links where token_hash = hash and purpose = ''setup'' and expires_at > at_time returning 1
    )
    select exists (select from taken) and not exists (select from members where role = ''owner'')'`);
    this.addSql(`
create function reset_password(hash bytea, new_hash text, at_time timestamptz) returns setof uuid
language plpgsql security definer set search_path = public, pg_temp as $$
declare whose uuid;
begin
  delete from account_links where token_hash = hash and purpose = 'reset' and expires_at > at_time
  returning account_id into whose;
  if whose is null then return; end if;
  update accounts set password_hash = new_hash where id = whose;
  delete from sessions where account_id = whose;
  return next whose;
end $$`);
    this.addSql(`
create function take_totp_step(step int) returns boolean
language sql security definer set search_path = public, pg_temp
as 'with taken as (
      update accounts set totp_last_step = step
      where id = ${ACCOUNT_IN_TEXT} and (totp_last_step is null or totp_last_step < step) returning 1
    )
    select exists (select from taken)'`);
    this.addSql(`
create function take_recovery_code(code_hash text) returns boolean
language sql security definer set search_path = public, pg_temp
as 'with taken as (
      update accounts set recovery_hashes = array_remove(recovery_hashes, code_hash)
      where id = ${ACCOUNT_IN_TEXT} and code_hash = any(recovery_hashes) returning 1
    )
    select exists (select from taken)'`);
    this.addSql(`
create function forget_ended_sessions(at_time timestamptz, idle interval) returns void
language sql security definer set search_path = public, pg_temp
as 'delete from sessions where expires_at < at_time or last_seen_at < at_time - idle;
    delete from account_links where expires_at < at_time;
    delete from invitations where expires_at < at_time'`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
