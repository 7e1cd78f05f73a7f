import { Migration } from '@mikro-orm/migrations';

/**
 * Also forgets what receivers said about the conversation of a redacted message (docs/decisions/0048): its preview had
 * the message's words.
 *
 * A response that arrives within a minute after that is not stored. A worker records a round within its lease of 30 s.
 */
export class RedactedPreviews extends Migration {
  override up(): void {
    this.addSql(`
create or replace function forget_redacted_responses() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update deliveries set response = null
  where tenant_id = new.tenant_id and object_id in (new.id, new.conversation_id) and response is not null;
  return null;
end $$`);
    this.addSql(`
create or replace function lock_objects(tenant uuid, ids uuid[]) returns setof uuid
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  return query select answers.id from answers where tenant_id = tenant and id = any(ids) order by id for key share;
  perform from conversations where tenant_id = tenant and id = any(ids) order by id for key share;
  return query select conversations.id from conversations where tenant_id = tenant and id = any(ids) and not exists (
    select from messages where messages.tenant_id = tenant and conversation_id = conversations.id
      and redacted and edited_at > clock_timestamp() - interval '1 minute');
  return query select messages.id from messages
    where tenant_id = tenant and id = any(ids) and not redacted order by id for share;
  return query select identities.id from identities where tenant_id = tenant and id = any(ids) order by id for key share;
end $$`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
