-- Whether a tenant has an open conversation that its assignment rules have not checked, or that can be assigned now.
create or replace function has_to_assign(tenant uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select exists (select from assignment_rules as rules_of where tenant_id = tenant and jsonb_array_length(rules_of.rules) > 0 and (
    (
      select rules_checked from conversations as found
      where found.tenant_id = tenant and found.status = 'open' and found.assignee_id is null
      order by rules_checked, created_at, id limit 1
    ) < rules_of.version or exists (
      select from jsonb_array_elements(rules_of.rules) as rule(value)
      cross join lateral (select value #> '{then,assign}' as assign) as target
      where (
        select true from conversations as waiting
        where waiting.tenant_id = tenant and waiting.status = 'open' and waiting.assignee_id is null
          and waiting.assignment_waits and waiting.assignment_rule = (rule.value ->> 'id')::uuid
        order by created_at, id limit 1
      ) and exists (
        select from members
        where members.tenant_id = tenant and members.availability = 'active'
          and members.id in (select jsonb_array_elements_text(
            coalesce(assign -> 'round_robin', assign -> 'least_busy', jsonb_build_array(assign -> 'member_id')))::uuid)
          and (select count(*) from (
            select from conversations as held where held.tenant_id = members.tenant_id and held.assignee_id = members.id
              and held.status in ('open', 'pending') order by id limit members.capacity) as counted) < members.capacity
      )
    )
  ))
$$;
revoke all on function has_to_assign from public;
grant execute on function has_to_assign to parley_worker;
