-- Like `written_text`, for an answer with follow-up steps.
create or replace function written_texts(comment text, answered jsonb) returns text
language sql immutable parallel safe as $$
  select nullif(coalesce(comment, '') || E'\n' || coalesce((
    select string_agg(said, E'\n' order by step <> 'main', step) from (
      select step, case jsonb_typeof(value) when 'string' then value #>> '{}' when 'object' then value->>'other_text' end as said
      from jsonb_each(answered) as each(step, value)
    ) as texts where said <> ''), ''), E'\n')
$$;
grant execute on function written_texts to parley_app, parley_worker;
