-- Removes the responses of webhooks' receivers about a redacted message or its conversation, whose preview had its words
-- (docs/decisions/0048).
create or replace function forget_redacted_responses() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update deliveries set response = null
  where tenant_id = new.tenant_id and object_id in (new.id, new.conversation_id) and response is not null;
  return null;
end $$;
revoke all on function forget_redacted_responses from public;

create or replace trigger forget_redacted_responses after update of redacted on messages
for each row when (new.redacted and not old.redacted) execute function forget_redacted_responses();
