-- Leaves tombstones of deleted conversations. A trigger, so that no way of deleting omits them.
create or replace function leave_conversation_tombstones() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into conversation_tombstones
  select tenant_id, id, identity, identity_verified, clock_timestamp() from gone
  where not exists (select from deleted_tenants where deleted_tenants.id = gone.tenant_id)
  on conflict do nothing;
  return null;
end $$;
revoke all on function leave_conversation_tombstones from public;

create or replace trigger leave_tombstones after delete on conversations referencing old table as gone
for each statement execute function leave_conversation_tombstones();
