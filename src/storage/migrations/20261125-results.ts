import { Migration } from '@mikro-orm/migrations';

/**
 * The function that counts the answers of a question by day, as a statement.
 *
 * `chosen` is materialized, since PostgreSQL would otherwise compute it again for each row of the result.
 */
export const countResults = (create: 'create' | 'create or replace'): string => `
${create} function count_results(tenant uuid, question uuid, from_day date, before_day date) returns setof question_results
language sql stable
as $$
  with given as materialized (
    select (received_at at time zone 'UTC')::date as day, question_version, identity_verified, state,
      state in ('partial', 'completed') as answered, "values"->'main' as value,
      written_text(comment, "values") is not null as written
    from answers
    where tenant_id = tenant and question_id = question
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
$$`;

/** The counts of each question's answers (docs/decisions/0016). `20261202-counts` counts existing answers. */
export class Results extends Migration {
  override up(): void {
    this.createTable();
    this.createCounting();
    this.addSql('insert into schema_state values (5, 1)');
  }

  /** Rows are updated often: the free space keeps their new versions on the same page. */
  private createTable(): void {
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    this.addSql(`
create table question_results (
  tenant_id uuid not null,
  question_id uuid not null,
  day date not null,
  question_version int not null,
  identity_verified boolean not null,
  seen int not null,
  dismissed int not null,
  partial int not null,
  completed int not null,
  written int not null,
  scores int[] not null,
  choices jsonb not null,
  primary key (tenant_id, question_id, day, question_version, identity_verified)
) with (fillfactor = 70)`);
    this.addSql('alter table question_results enable row level security');
    this.addSql(`create policy one_tenant on question_results to parley_app using (tenant_id = ${tenant})`);
    this.addSql('create policy every_tenant on question_results to parley_worker using (true)');
    this.addSql('grant select, insert, update, delete on question_results to parley_app, parley_worker');
    this.addSql('alter table answers add column revised_from jsonb');
  }

  private createCounting(): void {
    this.addSql(`
create function written_text(comment text, answered jsonb) returns text
language sql immutable parallel safe
as $$
  select nullif(coalesce(comment, '') || E'\\n' || coalesce(
    case jsonb_typeof(answered->'main')
      when 'string' then answered->>'main'
      when 'object' then answered->'main'->>'other_text'
    end, ''), E'\\n')
$$`);
    this.addSql(`
create function add_choices(counted jsonb, more jsonb) returns jsonb
language sql immutable parallel safe
as $$
  select coalesce(jsonb_object_agg(id, total), '{}') from (
    select id, sum(number::int) as total
    from (select * from jsonb_each_text(counted) union all select * from jsonb_each_text(more)) as each_of(id, number)
    group by id
  ) as totals
$$`);
    this.addSql(countResults('create'));
    this.addSql(`
create function tenant_ids() returns setof uuid
language sql stable security definer set search_path = public, pg_temp
as 'select id from tenants'`);
    this.addSql('revoke all on function tenant_ids() from public');
    this.addSql('grant execute on function tenant_ids() to parley_app');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
