-- Records the requests that would start a deleted conversation again, without texts and identities: its first message, and all
-- messages of a follow-up, which may be sent again to the conversation that it continues. Messages are deleted first.
create or replace function remember_deleted_start() returns trigger
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
end $$;
revoke all on function remember_deleted_start from public;

create or replace trigger remember_deleted_start after delete on messages referencing old table as gone
for each statement execute function remember_deleted_start();
