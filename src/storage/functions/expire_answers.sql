-- Deletes answers beyond the tenant's retention, oldest first, and old quarantined answers. `now` is for tests of the future.
create or replace function expire_answers(tenant uuid, at_most int, now timestamptz) returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  cutoff timestamptz;
  ids uuid[];
  gone int;
  discarded int;
begin
  select least(clock_timestamp(), now) - make_interval(days => retention_answers_days) into cutoff
  from tenants where id = tenant;
  if cutoff is null then return 0; end if;
  if exists (select from answers where tenant_id = tenant and received_at < cutoff) then
    update tenants set results_fixed_before = (cutoff at time zone 'UTC')::date + 1
    where id = tenant and (results_fixed_before is null or results_fixed_before <= (cutoff at time zone 'UTC')::date);
  end if;
  select array_agg(id) into ids from (
    select id from answers where tenant_id = tenant and received_at < cutoff
    order by received_at, id limit at_most for update skip locked
  ) as oldest;
  with expired as materialized (
    select record.tenant_id, record.identity, record.identity_verified, record.question_id
    from answers join card_records as record using (tenant_id, identity, identity_verified, question_id)
    where answers.tenant_id = tenant and answers.id = any(ids) and record.last_answer_id = answers.id
      and record.last_value is not null
    order by 1, 2, 3, 4 for update of record
  )
  update card_records as record set last_value = null from expired
  where (record.tenant_id, record.identity, record.identity_verified, record.question_id)
    = (expired.tenant_id, expired.identity, expired.identity_verified, expired.question_id)
    and record.last_answer_id = any(ids);
  insert into deleted_answers (tenant_id, id, deleted_at, expired)
  select tenant, id, clock_timestamp(), true from unnest(ids) as id on conflict do nothing;
  delete from answers where tenant_id = tenant and id = any(ids);
  get diagnostics gone = row_count;
  if gone > 0 then
    insert into events (tenant_id, type, object_type, object_id, data)
    values (tenant, 'answers.expired', 'tenant', tenant, jsonb_build_object('count', gone) ||
      jsonb_build_object('by', jsonb_build_object('type', 'system', 'id', null)));
  end if;
  delete from quarantined_answers where tenant_id = tenant and id in (
    select id from quarantined_answers where tenant_id = tenant and quarantined_at < cutoff
    order by quarantined_at, id limit at_most for update skip locked
  );
  get diagnostics discarded = row_count;
  return gone + discarded;
end $$;
revoke all on function expire_answers from public;
grant execute on function expire_answers to parley_worker;
