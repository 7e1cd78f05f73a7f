import { Migration } from '@mikro-orm/migrations';

/**
 * Office hours and reply targets of a tenant, and the time by which a waiting user should have a reply.
 *
 * A trigger clears that time with `waiting_since`, because the previous version and the timers know only the latter.
 */
export class ReplyTargets extends Migration {
  override up(): void {
    this.addSql(`alter table tenants add column office_hours jsonb not null default '[]'`);
    this.addSql(`alter table tenants add column reply_targets jsonb not null default '{}'`);
    this.addSql('alter table conversations add column reply_due_at timestamptz(3)');
    this.addSql(`
create function clear_reply_due_at() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  new.reply_due_at := null;
  return new;
end $$`);
    this.addSql(`
create trigger reply_no_longer_due before update on conversations for each row
when (new.waiting_since is null and new.reply_due_at is not null) execute function clear_reply_due_at()`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
