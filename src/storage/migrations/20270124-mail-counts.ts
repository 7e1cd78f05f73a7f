import { Migration } from '@mikro-orm/migrations';

/**
 * Counts of mails by day, shared by all processes and kept over restarts (`storage/mail-quotas.ts`). `counted` is a digest of
 * an address or a tenant, so the table has no addresses and no rows of tenants.
 */
export class MailCounts extends Migration {
  override up(): void {
    this.addSql(
      'create table mail_counts (day date not null, counted bytea not null, mails int not null, primary key (day, counted))',
    );
    this.createQuota();
    this.forgetThem();
  }

  /**
   * Counts a mail for its mailbox and its tenant, or for neither of them. Rows are locked in the order of their keys, so that
   * concurrent mails never deadlock.
   */
  private createQuota(): void {
    this.addSql(`
create function take_mail_quota(
  today date, mailbox bytea, per_mailbox int, for_tenant uuid, tenant bytea, per_tenant int, per_member int
) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into mail_counts select today, unnest(array[mailbox, tenant]), 0 order by 2 on conflict do nothing;
  perform from mail_counts where day = today and counted in (mailbox, tenant) order by counted for update;
  if exists (
    select from mail_counts where day = today and (
      counted = mailbox and mails >= per_mailbox
      or counted = tenant and mails >= per_tenant + per_member * (select count(*) from members where tenant_id = for_tenant))
  ) then return false; end if;
  update mail_counts set mails = mails + 1 where day = today and counted in (mailbox, tenant);
  return true;
end $$`);
    this.addSql('revoke all on function take_mail_quota(date, bytea, int, uuid, bytea, int, int) from public');
    this.addSql(
      'grant execute on function take_mail_quota(date, bytea, int, uuid, bytea, int, int) to parley_app, parley_worker',
    );
  }

  /** A day more than needed, for clock differences. */
  private forgetThem(): void {
    this.addSql(`
create or replace function forget_expired(kept interval) returns void
language sql security definer set search_path = public, pg_temp
as 'delete from idempotency_keys where created_at < clock_timestamp() - interval ''24 hours'';
    delete from rate_counters where expires_at < clock_timestamp();
    delete from recorded_flushes where recorded_at < clock_timestamp() - kept;
    delete from mail_counts where day < (clock_timestamp() at time zone ''UTC'')::date - 1'`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
