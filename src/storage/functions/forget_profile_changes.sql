-- Deletes the changes of deleted profiles.
create or replace function forget_profile_changes() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from profile_changes using gone
  where profile_changes.tenant_id = gone.tenant_id and profile_changes.identity_id = gone.id;
  return null;
end $$;
revoke all on function forget_profile_changes from public;

create or replace trigger forget_profile_changes after delete on identities referencing old table as gone
for each statement execute function forget_profile_changes();
