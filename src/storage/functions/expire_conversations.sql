-- Deletes resolved conversations beyond the tenant's retention, with up to `messages_at_most` messages. Merges into them are ended,
-- 1,000 at a time.
--
-- Locks only with `skip locked`, in addition to the messages, in order of their ids, of conversations that it has locked. A
-- conversation whose merged ones are locked by others is left for the next round.
create or replace function expire_conversations(tenant uuid, at_most int, messages_at_most int, now timestamptz)
returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  cutoff timestamptz;
  moment timestamptz(3);
  due uuid[];
  ids uuid[];
  merged uuid[];
  gone int;
begin
  select least(clock_timestamp(), now) - make_interval(days => retention_conversations_days) into cutoff
  from tenants where id = tenant;
  if cutoff is null then return 0; end if;
  perform pg_current_xact_id(); -- before the time, so that incremental reads wait for this transaction
  moment := clock_timestamp();
  select array_agg(id) into due from (
    select id, sum(size) over (order by last_activity_at, id) - size as before from (
      select id, last_activity_at, last_seq + last_note_seq as size from conversations
      where tenant_id = tenant and status = 'resolved' and last_activity_at < cutoff and resolved_at < cutoff
      order by last_activity_at, id limit at_most for update skip locked
    ) as oldest
  ) as added_up where before < messages_at_most;
  select coalesce(array_agg(id), '{}') into merged from (
    select id from conversations where tenant_id = tenant and merged_into_id = any(due) and not id = any(due)
    order by id limit 1000 for update skip locked
  ) as locked;
  select array_agg(id) into ids from unnest(due) as oldest(id) where not exists (
    select from conversations as other where other.tenant_id = tenant and other.merged_into_id = oldest.id
      and not other.id = any(due) and not other.id = any(merged)
  );
  perform separate_conversations(tenant, array(
    select unnest(merged)
    union select id from conversations where tenant_id = tenant and merged_into_id = any(ids) and not id = any(ids)
  ), moment);
  perform from messages where tenant_id = tenant and conversation_id = any(ids) order by id for update;
  delete from messages where tenant_id = tenant and conversation_id = any(ids);
  with deleted as (
    delete from conversations where tenant_id = tenant and id = any(ids) returning id
  ), told as (
    insert into events (tenant_id, type, object_type, object_id, data)
    select tenant, 'conversation.deleted', 'conversation', id,
      jsonb_build_object('by', jsonb_build_object('type', 'system', 'id', null)) from deleted
  )
  select count(*) into gone from deleted;
  return gone;
end $$;
revoke all on function expire_conversations from public;
grant execute on function expire_conversations to parley_worker;
