-- Opens the snoozed conversations of a tenant that are due. Returns their number.
create or replace function wake_conversations(tenant uuid, at_most int, next_status text, changed jsonb, described text)
returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  moment timestamptz(3);
  moved int;
begin
  perform pg_current_xact_id(); -- before the time, so that incremental reads wait for this transaction
  moment := clock_timestamp();
  with due as materialized (
    select tenant_id, id from conversations where tenant_id = tenant and status = 'snoozed' and snoozed_until <= moment
    order by snoozed_until limit at_most for update skip locked
  ), woken as (
    update conversations set status = next_status, snoozed_until = null, last_note_seq = last_note_seq + 1,
      team_updated_at = moment, updated_at = case when last_author_type = 'user' then updated_at else moment end
    from due where conversations.tenant_id = due.tenant_id and conversations.id = due.id
    returning conversations.tenant_id, conversations.id, last_seq, last_note_seq
  ), noted as (
    insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, body, format, created_at, redacted, event)
    select tenant_id, gen_random_uuid(), id, last_seq, last_note_seq, 'event', 'system', described, 'text', moment, false, changed
    from woken returning 1
  ), told as (
    insert into events (tenant_id, type, object_type, object_id, data)
    select tenant_id, 'conversation.status_changed', 'conversation', id,
      jsonb_build_object('from', 'snoozed', 'to', next_status) || jsonb_build_object('by', jsonb_build_object('type', 'system', 'id', null))
    from woken
  )
  select count(*) into moved from noted;
  if moved > 0 then perform mark_tenant(tenant, 'assignment'); end if;
  return moved;
end $$;
revoke all on function wake_conversations from public;
grant execute on function wake_conversations to parley_worker;
