-- Resolves conversations of a tenant whose user has not answered for `auto_resolve_days`. Returns their number.
create or replace function resolve_pending_conversations(
  tenant uuid, at_most int, next_status text, changed jsonb, described text
)
returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  days int;
  moment timestamptz(3);
  moved int;
begin
  select auto_resolve_days into days from tenants where id = tenant;
  if days is null then return 0; end if;
  perform pg_current_xact_id();
  moment := clock_timestamp();
  with due as materialized (
    select tenant_id, id from conversations where tenant_id = tenant and status = 'pending'
        and last_activity_at < clock_timestamp() - make_interval(days => days)
        and team_updated_at < clock_timestamp() - make_interval(days => days)
    order by last_activity_at limit at_most for update skip locked
  ), resolved as (
    update conversations set status = next_status, resolved_at = moment, waiting_since = null,
      last_note_seq = last_note_seq + 1, team_updated_at = moment, updated_at = moment
    from due where conversations.tenant_id = due.tenant_id and conversations.id = due.id
    returning conversations.tenant_id, conversations.id, last_seq, last_note_seq
  ), noted as (
    insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, body, format, created_at, redacted, event)
    select tenant_id, gen_random_uuid(), id, last_seq, last_note_seq, 'event', 'system', described, 'text', moment, false, changed
    from resolved returning 1
  ), told as (
    insert into events (tenant_id, type, object_type, object_id, data)
    select tenant_id, 'conversation.status_changed', 'conversation', id,
      jsonb_build_object('from', 'pending', 'to', next_status) || jsonb_build_object('by', jsonb_build_object('type', 'system', 'id', null))
    from resolved
  )
  select count(*) into moved from noted;
  if moved > 0 then perform mark_tenant(tenant, 'assignment'); end if;
  return moved;
end $$;
revoke all on function resolve_pending_conversations from public;
grant execute on function resolve_pending_conversations to parley_worker;
