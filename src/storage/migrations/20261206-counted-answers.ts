import { Migration } from '@mikro-orm/migrations';

/**
 * Which answer to a card is counted in the results (docs/decisions/0016), and how long the ids of expired answers are
 * kept.
 *
 * Existing answers remain counted. The new columns of `answers` and `card_records` have constant defaults, so neither
 * table is rewritten.
 */
export class CountedAnswers extends Migration {
  override up(): void {
    this.createExpiry();
    this.addSql('alter table answers add column once_per_card boolean not null default false');
    this.addSql(`
alter table card_records
  add column counted_answer_id uuid,
  add column counted_completed boolean not null default false,
  add column counted_before uuid`);
    this.createCounting();
    this.addSql('insert into schema_state values (15, 1)');
  }

  /**
   * The functions of 20261128 with a second clock: `now` is the worker's, and the earlier of the two is used, so that a
   * clock that jumps ahead causes no early deletion. The previous version calls the functions without `now`.
   */
  private createExpiry(): void {
    this.addSql(`
create function expire_answers(tenant uuid, at_most int, now timestamptz) returns int
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
    this.addSql(`
create function expire_conversations(tenant uuid, at_most int, messages_at_most int, now timestamptz) returns int
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
  delete from conversations where tenant_id = tenant and id = any(ids);
  get diagnostics gone = row_count;
  return gone;
end $$`);
    for (const name of [
      'expire_answers(uuid, int, timestamptz)',
      'expire_conversations(uuid, int, int, timestamptz)',
    ]) {
      this.addSql(`revoke all on function ${name} from public`);
      this.addSql(`grant execute on function ${name} to parley_worker`);
    }
  }

  /** `count_results` of 20261125, in which an answer that is not counted is a view without a value. */
  private createCounting(): void {
    this.addSql(`
create or replace function count_results(tenant uuid, question uuid, from_day date, before_day date)
returns setof question_results
language sql stable
as $$
  with given as materialized (
    select (received_at at time zone 'UTC')::date as day, question_version, answers.identity_verified,
      case when counted then state else 'seen' end as state,
      counted and state in ('partial', 'completed') as answered, "values"->'main' as value,
      counted and written_text(comment, "values") is not null as written
    from answers left join card_records as record
      on answers.once_per_card and record.tenant_id = tenant and record.question_id = question
      and record.identity = answers.identity and record.identity_verified = answers.identity_verified,
    lateral (select not answers.once_per_card or answers.state in ('seen', 'dismissed')
      or coalesce(record.counted_answer_id = answers.id, false) as counted) as verdict
    where answers.tenant_id = tenant and answers.question_id = question
      and received_at >= from_day::timestamp at time zone 'UTC' and received_at < before_day::timestamp at time zone 'UTC'
  ), scored as (
    select *, case jsonb_typeof(value)
      when 'number' then (value #>> '{}')::numeric
      when 'boolean' then (value::boolean)::int
    end as score
    from given
  ), chosen as materialized (
    select day, question_version, identity_verified, jsonb_object_agg(id, number) as choices
    from (
      select day, question_version, identity_verified, id, count(*) as number
      from given, lateral (
        select value->>'option_id' where jsonb_typeof(value->'option_id') = 'string'
        union
        select option #>> '{}' from jsonb_array_elements(
          case when jsonb_typeof(value->'option_ids') = 'array' then value->'option_ids' else '[]' end) as option
        where jsonb_typeof(option) = 'string'
        union
        select 'other' where jsonb_exists(value, 'other_text')
      ) as choice(id)
      where answered and jsonb_typeof(value) = 'object'
      group by 1, 2, 3, 4
    ) as numbers
    group by 1, 2, 3
  )
  select tenant, question, day, question_version, identity_verified,
    count(*) filter (where state = 'seen')::int, count(*) filter (where state = 'dismissed')::int,
    count(*) filter (where state = 'partial')::int, count(*) filter (where state = 'completed')::int,
    count(*) filter (where written)::int,
    array[${Array.from({ length: 11 }, (_, score) => `count(*) filter (where answered and score = ${score})`).join(', ')}]::int[],
    coalesce((select choices from chosen where (chosen.day, chosen.question_version, chosen.identity_verified)
      = (scored.day, scored.question_version, scored.identity_verified)), '{}')
  from scored group by day, question_version, identity_verified
$$`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
