import { Migration } from '@mikro-orm/migrations';

/**
 * Limits on the number of answers (docs/decisions/0041).
 *
 * `response_quotas` has the places that are taken, by period. It is a table of its own because storing answers locks its
 * rows, and must not wait for, or delay, a change of the question.
 */
export class ResponseQuotas extends Migration {
  override up(): void {
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    this.addSql('alter table answers add column over_quota boolean not null default false');
    this.addSql('alter table questions add column full_until timestamptz(3)');
    this.addSql(`
create table response_quotas (
  tenant_id uuid not null,
  question_id uuid not null,
  taken jsonb not null default '{}',
  primary key (tenant_id, question_id)
) with (fillfactor = 50)`);
    this.addSql('alter table response_quotas enable row level security');
    this.addSql(`create policy one_tenant on response_quotas to parley_app using (tenant_id = ${tenant})`);
    this.addSql('create policy every_tenant on response_quotas to parley_worker using (true)');
    this.addSql('grant select, insert, update, delete on response_quotas to parley_app, parley_worker');
    this.createLimits();
    this.forgetFullness();
    this.createCounting();
    this.addSql('insert into schema_state values (30, 11) on conflict do nothing');
  }

  /** The worker has no right to questions and tenants; these functions are all that it can do with them. */
  private createLimits(): void {
    this.addSql(`
create function limits_of(tenants uuid[], questions uuid[]) returns table (
  tenant_id uuid, question_id uuid, max int, per text, timezone text
)
language sql stable security definer set search_path = public, pg_temp
as $$
  select q.tenant_id, q.id, (q.response_limit->>'count')::int, q.response_limit->>'per', t.timezone
  from (select unnest(tenants) as tenant_id, unnest(questions) as id) as asked
  join questions q using (tenant_id, id) join tenants t on t.id = q.tenant_id
  where jsonb_typeof(q.response_limit) = 'object'
$$`);
    this.addSql(`
create function note_full_limit(tenant uuid, question uuid, per text, period_start date, zone text) returns void
language sql security definer set search_path = public, pg_temp
as $$
  update questions set status = 'closed', closed_at = clock_timestamp(), updated_at = clock_timestamp()
  where tenant_id = tenant and id = question and per = 'total' and status in ('scheduled', 'live', 'paused');
  update questions set full_until = period_end.at
  from (select (period_start + ('1 ' || per)::interval) at time zone zone as at where per <> 'total') as period_end
  where tenant_id = tenant and id = question and coalesce(full_until, '-infinity') < period_end.at
$$`);
    for (const name of ['limits_of(uuid[], uuid[])', 'note_full_limit(uuid, uuid, text, date, text)']) {
      this.addSql(`revoke all on function ${name} from public`);
      this.addSql(`grant execute on function ${name} to parley_worker`);
    }
  }

  /** Whether a new limit is full is decided by the next answer. */
  private forgetFullness(): void {
    this.addSql(`
create function forget_fullness() returns trigger language plpgsql as $$
begin
  new.full_until := null;
  return new;
end $$`);
    this.addSql(`
create trigger forget_fullness before update of response_limit on questions for each row
when (old.response_limit is distinct from new.response_limit) execute function forget_fullness()`);
  }

  /** `count_results` of 20261206, in which an answer beyond the limit is a view without a value. */
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
    lateral (select not answers.over_quota and (not answers.once_per_card or answers.state in ('seen', 'dismissed')
      or coalesce(record.counted_answer_id = answers.id, false)) as counted) as verdict
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
