-- Marks a tenant for a loop of the worker. It allocates the transaction's id before the snapshot in which it searches for a mark. So
-- a transaction that relies on an earlier mark has a lower id than any transaction that starts after that mark was taken.
create or replace function mark_tenant(tenant uuid, work text) returns void
language plpgsql as $$
begin
  perform pg_current_xact_id();
  insert into public.marked_tenants (tenant_id, kind)
  select tenant, work where not exists (
    select from public.marked_tenants where tenant_id = tenant and kind = work and not taken);
end $$;
grant execute on function mark_tenant to parley_app, parley_worker;
