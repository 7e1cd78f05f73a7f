-- Returns the sums of two counts of choices, by option.
create or replace function add_choices(counted jsonb, more jsonb) returns jsonb
language sql immutable parallel safe as $$
  select coalesce(jsonb_object_agg(id, total), '{}') from (
    select id, sum(number::int) as total
    from (select * from jsonb_each_text(counted) union all select * from jsonb_each_text(more)) as each_of(id, number)
    group by id
  ) as totals
$$;
grant execute on function add_choices to parley_app, parley_worker;
