-- Returns the user-written text of an answer, or null: the comment, and the text or the words of "other" of each step.
create or replace function written_text(comment text, answered jsonb) returns text
language sql immutable parallel safe as $$
  select case when answered - 'main' = '{}' then nullif(coalesce(comment, '') || E'\n' || coalesce(
    case jsonb_typeof(answered->'main')
      when 'string' then answered->>'main'
      when 'object' then answered->'main'->>'other_text'
    end, ''), E'\n') else written_texts(comment, answered) end
$$;
grant execute on function written_text to parley_app, parley_worker;
