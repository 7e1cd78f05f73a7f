import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently } from './concurrent-index.ts';

/** Maximum number of merges that one call of `expire_conversations` ends, so that it stays within its time-out. */
const MERGES_AT_ONCE = 1000;

/**
 * Retention ends the merges into the conversations that it deletes, as the deletion by a person does: before, messages to
 * the merged ones were addressed to a conversation that no longer existed. Such merges into conversations that are gone
 * already are ended too.
 *
 * `expire_conversations` locks only with `skip locked`, in addition to the messages, in order of their ids, of
 * conversations that it has locked. A conversation whose merged ones are locked by others is left for the next round. The
 * previous version calls the same function, and ignores the new index.
 */
export class MergedConversations extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    const definition = 'conversations (tenant_id, merged_into_id) where merged_into_id is not null';
    for (const sql of createIndexConcurrently('conversations_merged', definition)) this.addSql(sql);
    this.makeIds();
    this.separate();
    this.expireConversations();
    this.separateFromGone();
  }

  /** `toTypeId` of the domain, for events by functions of the database. */
  private makeIds(): void {
    this.addSql(`
create or replace function type_id(prefix text, id uuid) returns text
language sql immutable strict parallel safe set search_path = public, pg_temp
as $$
  select prefix || '_' || string_agg(
    substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits from 5 * place + 1 for 5)::bit(5)::int + 1, 1), '' order by place)
  from (select b'00' || ('x' || replace(id::text, '-', ''))::bit(128) as bits) as value, generate_series(0, 25) as place
$$`);
  }

  /** Ends the merges of locked conversations, each with an event, as `storeChanges` does. */
  private separate(): void {
    this.addSql(`
create or replace function separate_conversations(tenant uuid, ids uuid[], moment timestamptz) returns void
language sql security definer set search_path = public, pg_temp
as $$
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
$$`);
    this.addSql('revoke all on function separate_conversations(uuid, uuid[], timestamptz) from public');
  }

  /** Reads only the merged conversations, by the index, and locks only those of a target that is gone. */
  private separateFromGone(): void {
    this.addSql(`
do $$ begin
  perform pg_current_xact_id();
  perform separate_conversations(tenant_id, array_agg(id), clock_timestamp()::timestamptz(3)) from (
    select tenant_id, id from conversations as merged where merged_into_id is not null and not exists (
      select from conversations as target where target.tenant_id = merged.tenant_id and target.id = merged.merged_into_id)
    order by tenant_id, id for update skip locked
  ) as locked group by tenant_id;
end $$`);
  }

  private expireConversations(): void {
    this.addSql(`
create or replace function expire_conversations(tenant uuid, at_most int, messages_at_most int, now timestamptz) returns int
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
    order by id limit ${MERGES_AT_ONCE} for update skip locked
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
end $$`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
