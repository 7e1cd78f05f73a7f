import { Migration } from '@mikro-orm/migrations';

/**
 * Snoozed conversations, their timers, and the resolution of conversations whose user does not answer.
 *
 * `snoozed_until` counts only with the status `snoozed`: the previous version changes the status and leaves the time.
 */
export class SnoozedConversations extends Migration {
  override up(): void {
    this.addSql('alter table conversations add column snoozed_until timestamptz(3)');
    this.addSql('alter table tenants add column auto_resolve_days int');
    this.wakeSnoozed();
    this.resolvePending();
    this.addSql(`
create function oldest_due_timer() returns float8
language sql volatile security definer set search_path = public, pg_temp
as $$
  select greatest(0, extract(epoch from clock_timestamp() - min(snoozed_until)))::float8
  from conversations where status = 'snoozed'
$$`);
    this.addSql('revoke all on function oldest_due_timer() from public');
    this.addSql('grant execute on function oldest_due_timer() to parley_app');
    this.addSql('insert into schema_state values (31, 11) on conflict do nothing');
  }

  /**
   * Both functions move a batch of conversations of all tenants to a status, with one event each. Locked rows are
   * skipped: another worker has them. `changed` and `described` are the event, which does not differ between
   * conversations.
   */
  private wakeSnoozed(): void {
    this.addSql(`
create function wake_conversations(at_most int, next_status text, changed jsonb, described text) returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  moment timestamptz(3);
  moved int;
begin
  perform pg_current_xact_id(); -- before the time, so that incremental reads wait for this transaction
  moment := clock_timestamp();
  with due as materialized (
    select tenant_id, id from conversations where status = 'snoozed' and snoozed_until <= moment
    order by snoozed_until limit at_most for update skip locked
  ), woken as (
    update conversations set status = next_status, snoozed_until = null, last_note_seq = last_note_seq + 1,
      team_updated_at = moment, updated_at = case when last_author_type = 'user' then updated_at else moment end
    from due where conversations.tenant_id = due.tenant_id and conversations.id = due.id
    returning conversations.tenant_id, conversations.id, last_seq, last_note_seq
  ), noted as (
    insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, body, format, created_at, redacted, event)
    select tenant_id, gen_random_uuid(), id, last_seq, last_note_seq, 'event', 'system', described, 'text', moment, false, changed
    from woken returning 1
  )
  select count(*) into moved from noted;
  return moved;
end $$`);
    this.grant('wake_conversations(int, text, jsonb, text)');
  }

  private resolvePending(): void {
    this.addSql(`
create function resolve_pending_conversations(at_most int, next_status text, changed jsonb, described text) returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  moment timestamptz(3);
  moved int;
begin
  perform pg_current_xact_id();
  moment := clock_timestamp();
  with due as materialized (
    select oldest.tenant_id, oldest.id from tenants cross join lateral (
      select tenant_id, id from conversations
      where tenant_id = tenants.id and status = 'pending'
        and last_activity_at < moment - make_interval(days => auto_resolve_days)
        and team_updated_at < moment - make_interval(days => auto_resolve_days)
      order by last_activity_at limit at_most for update skip locked
    ) as oldest where auto_resolve_days is not null limit at_most
  ), resolved as (
    update conversations set status = next_status, resolved_at = moment, waiting_since = null,
      last_note_seq = last_note_seq + 1, team_updated_at = moment, updated_at = moment
    from due where conversations.tenant_id = due.tenant_id and conversations.id = due.id
    returning conversations.tenant_id, conversations.id, last_seq, last_note_seq
  ), noted as (
    insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, body, format, created_at, redacted, event)
    select tenant_id, gen_random_uuid(), id, last_seq, last_note_seq, 'event', 'system', described, 'text', moment, false, changed
    from resolved returning 1
  )
  select count(*) into moved from noted;
  return moved;
end $$`);
    this.grant('resolve_pending_conversations(int, text, jsonb, text)');
  }

  private grant(name: string): void {
    this.addSql(`revoke all on function ${name} from public`);
    this.addSql(`grant execute on function ${name} to parley_worker`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
