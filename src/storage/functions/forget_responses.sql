-- Removes the responses of webhooks' receivers about deleted objects (docs/decisions/0048).
create or replace function forget_responses() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update deliveries set response = null from gone
  where deliveries.tenant_id = gone.tenant_id and deliveries.object_id = gone.id and deliveries.response is not null;
  return null;
end $$;
revoke all on function forget_responses from public;

create or replace trigger forget_responses after delete on answers referencing old table as gone
for each statement execute function forget_responses();

create or replace trigger forget_responses after delete on conversations referencing old table as gone
for each statement execute function forget_responses();

create or replace trigger forget_responses after delete on identities referencing old table as gone
for each statement execute function forget_responses();

create or replace trigger forget_responses after delete on messages referencing old table as gone
for each statement execute function forget_responses();
