-- Closes a question whose total limit is reached, or records until when it is full.
create or replace function note_full_limit(tenant uuid, question uuid, per text, period_start date, zone text)
returns void
language sql security definer set search_path = public, pg_temp as $$
  with closed as (
    update questions set status = 'closed', closed_at = clock_timestamp(), updated_at = clock_timestamp()
    where tenant_id = tenant and id = question and per = 'total' and status in ('scheduled', 'live', 'paused')
    returning id
  )
  insert into events (tenant_id, type, object_type, object_id, data)
  select tenant, 'question.closed', 'question', id, jsonb_build_object('by', jsonb_build_object('type', 'system', 'id', null)) from closed;
  update questions set full_until = period_end.at
  from (select (period_start + ('1 ' || per)::interval) at time zone zone as at where per <> 'total') as period_end
  where tenant_id = tenant and id = question and coalesce(full_until, '-infinity') < period_end.at
$$;
revoke all on function note_full_limit from public;
grant execute on function note_full_limit to parley_worker;
