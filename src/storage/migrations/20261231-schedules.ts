import { Migration } from '@mikro-orm/migrations';

/**
 * The functions with which the worker moves questions by their schedule, and one that no longer keeps the last value of
 * an answer that expires.
 */
export class Schedules extends Migration {
  override up(): void {
    this.addSql("create index questions_starting on questions (start_at) where status = 'scheduled'");
    this.addSql('create index questions_ending on questions (end_at) where end_at is not null');
    this.moveQuestions();
    this.expireValues();
    this.addSql('insert into schema_state values (34, 11) on conflict do nothing');
  }

  /** The end closes a question although the worker may be late: answers are accepted for the same time after it. */
  private moveQuestions(): void {
    this.addSql(`
create function move_scheduled_questions() returns int
language sql volatile security definer set search_path = public, pg_temp
as $$
  with ended as (
    update questions set status = 'closed', closed_at = end_at, updated_at = clock_timestamp()
    where end_at is not null and end_at <= clock_timestamp() and status in ('scheduled', 'live', 'paused') returning 1
  ), started as (
    update questions set status = 'live', updated_at = clock_timestamp()
    where status = 'scheduled' and (start_at is null or start_at <= clock_timestamp())
      and (end_at is null or end_at > clock_timestamp()) returning 1
  )
  select (select count(*) from ended)::int + (select count(*) from started)::int
$$`);
    this.addSql('revoke all on function move_scheduled_questions() from public');
    this.addSql('grant execute on function move_scheduled_questions() to parley_worker');
  }

  /** `expire_answers` of 20261206, which also removes the values of expired answers from card records. */
  private expireValues(): void {
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
    from (select distinct identity, identity_verified, question_id from answers where tenant_id = tenant and id = any(ids)) as gone
    join card_records as record on record.tenant_id = tenant and record.identity = gone.identity
      and record.identity_verified = gone.identity_verified and record.question_id = gone.question_id
    where record.last_value is not null and record.answered_at < cutoff
    order by 1, 2, 3, 4 for update of record
  )
  update card_records as record set last_value = null from expired
  where (record.tenant_id, record.identity, record.identity_verified, record.question_id)
    = (expired.tenant_id, expired.identity, expired.identity_verified, expired.question_id);
  insert into deleted_answers (tenant_id, id, deleted_at, expired)
  select tenant, id, clock_timestamp(), true from unnest(ids) as id on conflict do nothing;
  delete from answers where tenant_id = tenant and id = any(ids);
  get diagnostics gone = row_count;
  delete from quarantined_answers where tenant_id = tenant and id in (
    select id from quarantined_answers where tenant_id = tenant and quarantined_at < cutoff
    order by quarantined_at, id limit at_most for update skip locked
  );
  get diagnostics discarded = row_count;
  return gone + discarded;
end $$`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
