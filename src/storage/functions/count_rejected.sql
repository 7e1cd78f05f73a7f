-- Adds rejected answers to a tenant's total.
create or replace function count_rejected(tenant_ids uuid[], counts bigint[]) returns void
language sql security definer set search_path = public, pg_temp as $$
  insert into ingestion_totals select tenant_id, 0, 0, 0, rejected from unnest(tenant_ids, counts) as rejection(tenant_id, rejected)
    where not exists (select from deleted_tenants where id = tenant_id)
    order by 1 on conflict (tenant_id) do update set rejected = ingestion_totals.rejected + excluded.rejected
$$;
revoke all on function count_rejected from public;
grant execute on function count_rejected to parley_app, parley_worker;
