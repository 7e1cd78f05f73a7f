-- Clears the time by which a user should have a reply once no user waits. A trigger, so that timers and other statements need
-- only clear `waiting_since`.
create or replace function clear_reply_due_at() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  new.reply_due_at := null;
  return new;
end $$;

create or replace trigger reply_no_longer_due before update on conversations
for each row when (new.waiting_since is null and new.reply_due_at is not null) execute function clear_reply_due_at();
