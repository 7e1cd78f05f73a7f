import { Migration } from '@mikro-orm/migrations';

/**
 * Recognizes repeated requests: a conversation is not created again by a late retry after its deletion, and an
 * `Idempotency-Key` compares the value of the body.
 *
 * A deleted conversation leaves hashes of the requests that would start it again, without texts and identities: of its
 * first message, and of all messages of a follow-up, which may be sent again to the conversation that it continues. A
 * trigger writes them, so that no way of deleting omits them; messages are deleted before their conversation.
 */
export class RequestRepeats extends Migration {
  override up(): void {
    this.addSql('alter table idempotency_keys add column value_hash text');
    this.addSql(`
create table deleted_conversations (
  tenant_id uuid not null,
  start_hash bytea not null,
  deleted_at timestamptz(3) not null,
  primary key (tenant_id, start_hash)
)`);
    this.addSql('create index deleted_conversations_oldest on deleted_conversations (deleted_at)');
    this.addSql('alter table deleted_conversations enable row level security');
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    this.addSql(`create policy one_tenant on deleted_conversations to parley_app using (tenant_id = ${tenant})`);
    this.addSql('grant select, insert, update, delete on deleted_conversations to parley_app');
    this.addSql('create policy every_tenant on deleted_conversations to parley_worker using (true)');
    this.addSql('grant select, insert, update, delete on deleted_conversations to parley_worker');
    this.rememberStarts();
    this.addSql('insert into schema_state values (21, 1) on conflict do nothing');
  }

  private rememberStarts(): void {
    this.addSql(`
create function conversation_start_hash(
  identity text, verified boolean, previous uuid, author_type text, author_id text, client_message_id text
) returns bytea language sql stable set search_path = public, pg_temp
as $$
  select sha256(convert_to(
    jsonb_build_array(identity, verified, previous, author_type, author_id, client_message_id)::text, 'UTF8'))
$$`);
    this.addSql(`
create function remember_deleted_start() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into deleted_conversations
  select gone.tenant_id,
    conversation_start_hash(identity, identity_verified, previous_id, gone.author_type, gone.author_id, gone.client_message_id),
    clock_timestamp()
  from gone join conversations on conversations.tenant_id = gone.tenant_id and conversations.id = gone.conversation_id
  where gone.client_message_id is not null and gone.note_seq = 0 and (gone.seq = 1 or previous_id is not null)
    and not exists (select from deleted_tenants where deleted_tenants.id = gone.tenant_id)
  on conflict do nothing;
  return null;
end $$`);
    this.addSql('revoke all on function remember_deleted_start() from public');
    this.addSql(`
create trigger remember_deleted_start after delete on messages referencing old table as gone
for each statement execute function remember_deleted_start()`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
