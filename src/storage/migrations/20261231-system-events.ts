import { Migration } from '@mikro-orm/migrations';

const BY_SYSTEM = `jsonb_build_object('by', jsonb_build_object('type', 'system', 'id', null))`;

/**
 * Events of changes by the database's own functions: timers, schedules, retention and full limits. Otherwise the
 * functions are those of earlier migrations. The previous version calls them too.
 */
export class SystemEvents extends Migration {
  override up(): void {
    this.wakeSnoozed();
    this.resolvePending();
    this.expireAnswers();
    this.expireConversations();
    this.closeFullQuestions();
    this.moveQuestions();
  }

  private wakeSnoozed(): void {
    this.addSql(`
create or replace function wake_conversations(at_most int, next_status text, changed jsonb, described text) returns int
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
  ), told as (${this.statusEvents('woken', 'snoozed')})
  select count(*) into moved from noted;
  return moved;
end $$`);
  }

  private resolvePending(): void {
    this.addSql(`
create or replace function resolve_pending_conversations(at_most int, next_status text, changed jsonb, described text) returns int
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
  ), told as (${this.statusEvents('resolved', 'pending')})
  select count(*) into moved from noted;
  return moved;
end $$`);
  }

  private statusEvents(moved: string, from: string): string {
    return `
    insert into events (tenant_id, type, object_type, object_id, data)
    select tenant_id, 'conversation.status_changed', 'conversation', id,
      jsonb_build_object('from', '${from}', 'to', next_status) || ${BY_SYSTEM}
    from ${moved} `;
  }

  private expireAnswers(): void {
    this.addSql(`
create or replace function expire_answers(tenant uuid, at_most int, now timestamptz) returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  cutoff timestamptz;
  ids uuid[];
  gone int;
  discarded int;
begin
  select least(clock_timestamp(), now) - make_interval(days => retention_answers_days) into cutoff
  from tenants where id = tenant;
  if cutoff is null then return 0; end if;
  if exists (select from answers where tenant_id = tenant and received_at < cutoff) then
    update tenants set results_fixed_before = (cutoff at time zone 'UTC')::date + 1
    where id = tenant and (results_fixed_before is null or results_fixed_before <= (cutoff at time zone 'UTC')::date);
  end if;
  select array_agg(id) into ids from (
    select id from answers where tenant_id = tenant and received_at < cutoff
    order by received_at, id limit at_most for update skip locked
  ) as oldest;
  with expired as materialized (
    select record.tenant_id, record.identity, record.identity_verified, record.question_id
    from answers join card_records as record using (tenant_id, identity, identity_verified, question_id)
    where answers.tenant_id = tenant and answers.id = any(ids) and record.last_answer_id = answers.id
      and record.last_value is not null
    order by 1, 2, 3, 4 for update of record
  )
  update card_records as record set last_value = null from expired
  where (record.tenant_id, record.identity, record.identity_verified, record.question_id)
    = (expired.tenant_id, expired.identity, expired.identity_verified, expired.question_id)
    and record.last_answer_id = any(ids);
  insert into deleted_answers (tenant_id, id, deleted_at, expired)
  select tenant, id, clock_timestamp(), true from unnest(ids) as id on conflict do nothing;
  delete from answers where tenant_id = tenant and id = any(ids);
  get diagnostics gone = row_count;
  if gone > 0 then
    insert into events (tenant_id, type, object_type, object_id, data)
    values (tenant, 'answers.expired', 'tenant', tenant, jsonb_build_object('count', gone) || ${BY_SYSTEM});
  end if;
  delete from quarantined_answers where tenant_id = tenant and id in (
    select id from quarantined_answers where tenant_id = tenant and quarantined_at < cutoff
    order by quarantined_at, id limit at_most for update skip locked
  );
  get diagnostics discarded = row_count;
  return gone + discarded;
end $$`);
  }

  private expireConversations(): void {
    this.addSql(`
create or replace function expire_conversations(tenant uuid, at_most int, messages_at_most int, now timestamptz) returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  cutoff timestamptz;
  ids uuid[];
  gone int;
begin
  select least(clock_timestamp(), now) - make_interval(days => retention_conversations_days) into cutoff
  from tenants where id = tenant;
  if cutoff is null then return 0; end if;
  select array_agg(id) into ids from (
    select id, sum(size) over (order by last_activity_at, id) - size as before from (
      select id, last_activity_at, last_seq + last_note_seq as size from conversations
      where tenant_id = tenant and status = 'resolved' and last_activity_at < cutoff and resolved_at < cutoff
      order by last_activity_at, id limit at_most for update skip locked
    ) as oldest
  ) as added_up where before < messages_at_most;
  delete from messages where tenant_id = tenant and conversation_id = any(ids);
  with deleted as (
    delete from conversations where tenant_id = tenant and id = any(ids) returning id
  ), told as (
    insert into events (tenant_id, type, object_type, object_id, data)
    select tenant, 'conversation.deleted', 'conversation', id, ${BY_SYSTEM} from deleted
  )
  select count(*) into gone from deleted;
  return gone;
end $$`);
  }

  private closeFullQuestions(): void {
    this.addSql(`
create or replace function note_full_limit(tenant uuid, question uuid, per text, period_start date, zone text) returns void
language sql security definer set search_path = public, pg_temp
as $$
  with closed as (
    update questions set status = 'closed', closed_at = clock_timestamp(), updated_at = clock_timestamp()
    where tenant_id = tenant and id = question and per = 'total' and status in ('scheduled', 'live', 'paused')
    returning id
  )
  insert into events (tenant_id, type, object_type, object_id, data)
  select tenant, 'question.closed', 'question', id, ${BY_SYSTEM} from closed;
  update questions set full_until = period_end.at
  from (select (period_start + ('1 ' || per)::interval) at time zone zone as at where per <> 'total') as period_end
  where tenant_id = tenant and id = question and coalesce(full_until, '-infinity') < period_end.at
$$`);
  }

  private moveQuestions(): void {
    this.addSql(`
create or replace function move_scheduled_questions() returns int
language sql volatile security definer set search_path = public, pg_temp
as $$
  with ended as (
    update questions set status = 'closed', closed_at = end_at, updated_at = clock_timestamp()
    where end_at is not null and end_at <= clock_timestamp() and status in ('scheduled', 'live', 'paused')
    returning tenant_id, id
  ), started as (
    update questions set status = 'live', updated_at = clock_timestamp()
    where status = 'scheduled' and (start_at is null or start_at <= clock_timestamp())
      and (end_at is null or end_at > clock_timestamp())
    returning tenant_id, id
  ), told as (
    insert into events (tenant_id, type, object_type, object_id, data)
    select tenant_id, 'question.closed', 'question', id, ${BY_SYSTEM} from ended
    union all select tenant_id, 'question.updated', 'question', id, ${BY_SYSTEM} from started
  )
  select (select count(*) from ended)::int + (select count(*) from started)::int
$$`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
