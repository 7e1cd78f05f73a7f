-- Returns the part of an answer's values on which its counts depend: texts are reduced to whether there are any.
create or replace function counted_values(answered jsonb) returns jsonb
language sql immutable parallel safe as $$
  select coalesce(jsonb_object_agg(step, case jsonb_typeof(value)
    when 'string' then case when value = '""' then value else '"x"' end
    when 'object' then case when coalesce(value->>'other_text', '') = '' then value
      else jsonb_set(value, '{other_text}', '"x"') end
    else value end), '{}')
  from jsonb_each(answered) as each(step, value)
$$;
grant execute on function counted_values to parley_app, parley_worker;
