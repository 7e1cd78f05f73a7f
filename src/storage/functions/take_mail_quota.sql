-- Counts a mail to a mailbox and of a tenant; false if a limit of the day is reached (`storage/team/mail-quotas.ts`).
create or replace function take_mail_quota(
  today date, mailbox bytea, per_mailbox int, for_tenant uuid, tenant bytea, per_tenant int, per_member int
)
returns boolean
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
end $$;
revoke all on function take_mail_quota from public;
grant execute on function take_mail_quota to parley_app, parley_worker;
