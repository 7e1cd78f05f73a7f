-- Deletes a part of the messages of a due conversation that has more than one batch of them, oldest first, and returns their number.
-- It selects among the conversations that `expire_conversations` would delete next, which deletes all messages of a conversation in one
-- transaction: a million take as long as a statement may, and no event is numbered meanwhile.
create or replace function trim_expired_conversation(tenant uuid, at_most int, messages_at_most int, now timestamptz)
returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  cutoff timestamptz;
  long uuid;
  ids uuid[];
  gone int;
begin
  select least(clock_timestamp(), now) - make_interval(days => retention_conversations_days) into cutoff
  from tenants where id = tenant;
  if cutoff is null then return 0; end if;
  select id into long from (
    select id, last_activity_at, last_seq + last_note_seq as size from conversations
    where tenant_id = tenant and status = 'resolved' and last_activity_at < cutoff and resolved_at < cutoff
    order by last_activity_at, id limit at_most
  ) as oldest where size > messages_at_most and exists (
    select from messages where tenant_id = tenant and conversation_id = oldest.id
    order by seq, note_seq offset messages_at_most limit 1
  ) order by last_activity_at, id limit 1;
  select id into long from conversations
  where tenant_id = tenant and id = long and status = 'resolved' and last_activity_at < cutoff and resolved_at < cutoff
  for update skip locked;
  if long is null then return 0; end if;
  ids := array(
    select id from messages where tenant_id = tenant and conversation_id = long
    order by seq, note_seq limit messages_at_most
  );
  perform from messages where tenant_id = tenant and id = any(ids) order by id for update;
  delete from messages where tenant_id = tenant and id = any(ids);
  get diagnostics gone = row_count;
  return gone;
end $$;
revoke all on function trim_expired_conversation from public;
grant execute on function trim_expired_conversation to parley_worker;
