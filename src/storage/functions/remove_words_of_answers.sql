-- Deletes the words of deleted answers, always by the primary key.
create or replace function remove_words_of_answers() returns trigger
language plpgsql security definer set search_path = public, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
begin
  delete from answer_words using gone
  where answer_words.tenant_id = gone.tenant_id and answer_words.received_at = gone.received_at and answer_words.id = gone.id;
  return null;
end $$;
revoke all on function remove_words_of_answers from public;

create or replace trigger remove_words after delete on answers referencing old table as gone
for each statement execute function remove_words_of_answers();
