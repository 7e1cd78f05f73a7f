-- Starts and ends the questions of a tenant that are due by their schedule. Returns their number.
create or replace function move_scheduled_questions(tenant uuid, at_most int) returns int
language sql security definer set search_path = public, pg_temp as $$
  with ended as (
    update questions set status = 'closed', closed_at = end_at, updated_at = clock_timestamp()
    where tenant_id = tenant and id in (
      select id from questions
      where tenant_id = tenant and end_at is not null and end_at <= clock_timestamp() and status in ('scheduled', 'live', 'paused')
      order by id limit at_most for update skip locked
    )
    returning tenant_id, id
  ), started as (
    update questions set status = 'live', updated_at = clock_timestamp()
    where tenant_id = tenant and id in (
      select id from questions
      where tenant_id = tenant and status = 'scheduled' and (start_at is null or start_at <= clock_timestamp())
      and (end_at is null or end_at > clock_timestamp())
      order by id limit at_most for update skip locked
    )
    returning tenant_id, id
  ), told as (
    insert into events (tenant_id, type, object_type, object_id, data)
    select tenant_id, 'question.closed', 'question', id,
      jsonb_build_object('by', jsonb_build_object('type', 'system', 'id', null)) from ended
    union all
    select tenant_id, 'question.updated', 'question', id,
      jsonb_build_object('by', jsonb_build_object('type', 'system', 'id', null)) from started
  )
  select (select count(*) from ended)::int + (select count(*) from started)::int
$$;
revoke all on function move_scheduled_questions from public;
grant execute on function move_scheduled_questions to parley_worker;
