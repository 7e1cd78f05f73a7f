-- Finds conversations with these terms in a message, a note or the subject; null if there are too many. See `search_answers`.
create or replace function search_messages(terms text[], at_most int, newest int) returns setof uuid
language plpgsql stable security definer set search_path = public, pg_temp
set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off as $$
declare
  rare tsquery := rare_terms_of_message_words(nullif(current_setting('parley.tenant', true), '')::uuid, terms);
  ids uuid[];
  hits int;
begin
  if rare is not null then
    execute 'select coalesce(array_agg(distinct conversation_id), ''{}''), count(*) from (
      select conversation_id from message_words
      where words @@ $1 and (words @@ $2) is true and (tenant_id = $3) is true limit $4
    ) as matching' into ids, hits
    using rare, array_to_string(terms, ' & ')::tsquery, nullif(current_setting('parley.tenant', true), '')::uuid, at_most + 1;
  end if;
  if ids is null or hits > at_most or cardinality(ids) > newest then return next null; return; end if;
  return query select unnest(ids);
end $$;
revoke all on function search_messages from public;
grant execute on function search_messages to parley_app;
