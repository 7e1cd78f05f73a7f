-- Resets the fullness of a question when its limit changes.
create or replace function forget_fullness() returns trigger
language plpgsql as $$
begin
  new.full_until := null;
  return new;
end $$;

create or replace trigger forget_fullness before update of response_limit on questions
for each row when (old.response_limit is distinct from new.response_limit) execute function forget_fullness();
