-- Like `rare_terms_of_answer_words`, for messages and subjects.
create or replace function rare_terms_of_message_words(tenant uuid, terms text[]) returns tsquery
language sql stable set search_path = public, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
  select string_agg(term, ' & ')::tsquery from unnest(terms) as term where (
    select count(*) from (
      select words from message_words where tenant_id = tenant order by conversation_id desc, id desc limit 200
    ) as newest where words @@ term::tsquery
  ) <= 2
$$;
grant execute on function rare_terms_of_message_words to parley_app, parley_worker;
