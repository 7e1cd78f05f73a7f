-- Ends the merges of conversations into those that retention deletes.
create or replace function separate_conversations(tenant uuid, ids uuid[], moment timestamptz) returns void
language sql security definer set search_path = public, pg_temp as $$
  with merged as materialized (
    select id as merged_id, type_id('conversation', merged_into_id) as target from conversations
    where tenant_id = tenant and id = any(ids) and merged_into_id is not null
  ), separated as (
    update conversations set merged_into_id = null, last_note_seq = last_note_seq + 1,
      team_updated_at = moment, updated_at = moment
    from merged where tenant_id = tenant and id = merged_id
    returning id, last_seq, last_note_seq, target
  ), noted as (
    insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, body, format, created_at, redacted, event)
    select tenant, gen_random_uuid(), id, last_seq, last_note_seq, 'event', 'system', 'merged_into_id: ' || target || ' → none',
      'text', moment, false, jsonb_build_object('field', 'merged_into_id', 'from', target, 'to', null,
        'reason', jsonb_build_object('type', 'timer', 'id', null))
    from separated
  )
  insert into events (tenant_id, type, object_type, object_id, data)
  select tenant, 'conversation.updated', 'conversation', id,
    jsonb_build_object('by', jsonb_build_object('type', 'system', 'id', null))
  from separated
$$;
revoke all on function separate_conversations from public;
