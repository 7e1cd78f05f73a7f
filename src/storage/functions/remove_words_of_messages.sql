-- Deletes the words of deleted messages, always by the primary key.
create or replace function remove_words_of_messages() returns trigger
language plpgsql security definer set search_path = public, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
begin
  delete from message_words using gone
  where message_words.tenant_id = gone.tenant_id and message_words.conversation_id = gone.conversation_id and message_words.id = gone.id;
  return null;
end $$;
revoke all on function remove_words_of_messages from public;

create or replace trigger remove_words after delete on messages referencing old table as gone
for each statement execute function remove_words_of_messages();
