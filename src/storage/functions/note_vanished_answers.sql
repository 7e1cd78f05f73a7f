-- Records answers that were deleted without a row in `deleted_answers`. The tenant of the canary is excluded.
create or replace function note_vanished_answers() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into vanished_answers select tenant_id, id, clock_timestamp() from gone
  where tenant_id <> '00000000-0000-8000-8000-000000000001'
    and not exists (select from deleted_answers known where known.tenant_id = gone.tenant_id and known.id = gone.id)
    and not exists (select from deleted_tenants where deleted_tenants.id = gone.tenant_id)
  on conflict do nothing;
  return null;
end $$;
revoke all on function note_vanished_answers from public;

create or replace trigger note_vanished after delete on answers referencing old table as gone
for each statement execute function note_vanished_answers();
