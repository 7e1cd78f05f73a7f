import { Migration } from '@mikro-orm/migrations';

/** Functions for use before account or tenant are known. They run with the owner's rights. */
const DEFINER_FUNCTIONS = [
  'find_invitation(bytea)',
  'disown_account(bytea, timestamptz)',
  'make_account_link(text, bytea, text, timestamptz, boolean)',
  'reset_password(bytea, text, timestamptz)',
];

/**
 * Whether the owner of an account has proven its address, and invitations whose mailed link has a token of its own
 * (docs/decisions/0018). Accounts that exist already count as proven.
 */
export class ProvenAddresses extends Migration {
  override up(): void {
    this.addSql('alter table accounts add column email_proven_at timestamptz(3)');
    this.addSql('update accounts set email_proven_at = created_at');
    this.addSql('grant select (email_proven_at), update (email_proven_at) on accounts to parley_app');
    this.addSql(
      'alter table invitations add column mailed_token_hash bytea constraint invitations_mailed_token_hash_key unique',
    );
    this.addSql('alter table account_links add column mailed boolean not null default false');
    this.createInvitations();
    this.createLinks();
    for (const name of DEFINER_FUNCTIONS) {
      this.addSql(`revoke all on function ${name} from public`);
      this.addSql(`grant execute on function ${name} to parley_app`);
    }
  }

  /**
   * `disown_account` deletes the account that a mailed invitation is for, and returns its memberships. An address
   * that is proven keeps its account. The lock makes one of two concurrent invitations wait, and then find the new account.
   */
  private createInvitations(): void {
    this.addSql('drop function find_invitation(bytea)');
    this.addSql(`
create function find_invitation(hash bytea) returns table (
  tenant_id uuid, id uuid, tenant_name text, email text, role text, expires_at timestamptz, is_mailed boolean,
  account_id uuid, is_proven boolean
)
language sql stable security definer set search_path = public, pg_temp
as 'select i.tenant_id, i.id, t.name, i.email, i.role, i.expires_at, i.mailed_token_hash is not distinct from hash,
      a.id, a.email_proven_at is not null
    from invitations i join tenants t on t.id = i.tenant_id left join accounts a on a.email = i.email
    where i.token_hash = hash or i.mailed_token_hash = hash'`);
    this.addSql(`
create function disown_account(hash bytea, at_time timestamptz) returns table (of_tenant uuid, member_id uuid)
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
end $$`);
  }

  /**
   * A reset by a mailed link proves the address, unless an authenticator protects the account: the account may be a
   * stranger's, and the owner of the mailbox must remain able to disown it.
   */
  private createLinks(): void {
    this.addSql('drop function make_account_link(text, bytea, text, timestamptz)');
    this.addSql(`
create function make_account_link(
  of_purpose text, hash bytea, address text, until timestamptz, by_mail boolean default false
) returns void
language sql security definer set search_path = public, pg_temp
as 'delete from account_links where purpose = of_purpose
      and account_id is not distinct from (select id from accounts where email = address);
    insert into account_links (token_hash, purpose, account_id, expires_at, mailed)
    values (hash, of_purpose, (select id from accounts where email = address), until, by_mail)'`);
    this.addSql(`
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
end $$`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
