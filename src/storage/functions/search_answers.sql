-- Finds answers with these terms after a position, at most `newest` and one more; a row of nulls if there are more than `at_most`.
--
-- Row-level security prevents the use of the search index, because its operator is not leakproof. So this runs with the owner's
-- rights, for the connection's tenant, and returns only ids. The rows are then read under row-level security.
create or replace function search_answers(terms text[], before_at timestamptz, before_id uuid, at_most int, newest int)
returns table (found uuid, found_at timestamptz)
language plpgsql stable security definer set search_path = public, pg_temp
set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off as $$
declare
  rare tsquery := rare_terms_of_answer_words(nullif(current_setting('parley.tenant', true), '')::uuid, terms);
  ids uuid[];
  times timestamptz[];
begin
  if rare is not null then
    execute 'select coalesce(array_agg(id), ''{}''), array_agg(received_at) from (
      select id, received_at from answer_words where words @@ $1 and (words @@ $2) is true and (tenant_id = $3) is true
        and ((received_at, id) < ($4, $5)) is not false limit $6
    ) as matching' into ids, times
    using rare, array_to_string(terms, ' & ')::tsquery, nullif(current_setting('parley.tenant', true), '')::uuid, before_at, before_id, at_most + 1;
  end if;
  if ids is null or cardinality(ids) > at_most then return query select null::uuid, null::timestamptz; return; end if;
  return query select * from unnest(ids, times) as matching(id, at) order by at desc, id desc limit newest + 1;
end $$;
revoke all on function search_answers from public;
grant execute on function search_answers to parley_app;
