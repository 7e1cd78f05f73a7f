-- Selects the terms for the index: those in at most two of the newest 200 texts. A frequent term would cost its whole posting list,
-- and is found sooner by reading the newest rows. The choice does not depend on the planner's estimates.
create or replace function rare_terms_of_answer_words(tenant uuid, terms text[]) returns tsquery
language sql stable set search_path = public, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
  select string_agg(term, ' & ')::tsquery from unnest(terms) as term where (
    select count(*) from (
      select words from answer_words where tenant_id = tenant order by received_at desc, id desc limit 200
    ) as newest where words @@ term::tsquery
  ) <= 2
$$;
grant execute on function rare_terms_of_answer_words to parley_app, parley_worker;
