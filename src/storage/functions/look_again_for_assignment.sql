-- Lets assignment rules check a conversation again after a change on which they depend.
create or replace function look_again_for_assignment() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  new.rules_checked := 0;
  new.assignment_waits := false;
  return new;
end $$;

create or replace trigger look_again before update of tags, priority, assignee_id on conversations
for each row
when (old.rules_checked <> 0 and (old.tags <> new.tags or old.priority <> new.priority or (old.assignee_id is not null
and new.assignee_id is null)))
execute function look_again_for_assignment();
