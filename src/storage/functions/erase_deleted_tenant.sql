-- Deletes up to `at_most` rows of a deleted tenant from all tables with `tenant_id` (docs/decisions/0024).
create or replace function erase_deleted_tenant(doomed uuid, at_most int) returns jsonb
language plpgsql security definer set search_path = public, pg_temp
set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  owned name;
  number int;
  erased jsonb := '{}';
begin
  if not exists (select from deleted_tenants where id = doomed) then return erased; end if;
  for owned in
    select relname from pg_class join pg_attribute on attrelid = pg_class.oid
    where attname = 'tenant_id' and relkind = 'r' and relnamespace = 'public'::regnamespace order by relname
  loop
    execute format('delete from %I where ctid = any(array(
      select ctid from %I where tenant_id = $1 limit $2 for update skip locked))', owned, owned)
    using doomed, at_most;
    get diagnostics number = row_count;
    if number > 0 then erased := erased || jsonb_build_object(owned, number); end if;
    at_most := at_most - number;
    exit when at_most <= 0;
  end loop;
  return erased;
end $$;
revoke all on function erase_deleted_tenant from public;
grant execute on function erase_deleted_tenant to parley_app, parley_worker;
