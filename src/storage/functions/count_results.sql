-- Returns the counts of a question's answers by day, version and kind of identity (docs/decisions/0016).
-- `chosen` is materialized, since PostgreSQL would otherwise compute it again for each row of the result.
create or replace function count_results(tenant uuid, question uuid, from_day date, before_day date)
returns setof question_results
language sql stable as $$
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
    array[
      count(*) filter (where answered and score = 0),
      count(*) filter (where answered and score = 1),
      count(*) filter (where answered and score = 2),
      count(*) filter (where answered and score = 3),
      count(*) filter (where answered and score = 4),
      count(*) filter (where answered and score = 5),
      count(*) filter (where answered and score = 6),
      count(*) filter (where answered and score = 7),
      count(*) filter (where answered and score = 8),
      count(*) filter (where answered and score = 9),
      count(*) filter (where answered and score = 10)
    ]::int[],
    coalesce((select choices from chosen where (chosen.day, chosen.question_version, chosen.identity_verified)
      = (scored.day, scored.question_version, scored.identity_verified)), '{}')
  from scored group by day, question_version, identity_verified
$$;
grant execute on function count_results to parley_app, parley_worker;
