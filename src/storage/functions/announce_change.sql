-- Announces a change of a row that processes keep in memory (docs/decisions/0007).
create or replace function announce_change() returns trigger
language plpgsql as $$
declare changed jsonb := to_jsonb(coalesce(new, old));
begin
  perform pg_notify('parley_changes', json_build_object(
    'table', tg_table_name,
    'tenant_id', coalesce(changed->>'tenant_id', changed->>'id'),
    'id', changed->>'id'
  )::text);
  return null;
end $$;

create or replace trigger announce
after insert or delete or update of name, scopes, allowed_origins, secret_sealed, bearer_hash, previous_valid_until,
expires_at, revoked_at
on api_keys
for each row execute function announce_change();

create or replace trigger announce after insert on deleted_answers
for each row when (not new.expired) execute function announce_change();

create or replace trigger announce after insert or delete or update on questions
for each row execute function announce_change();

create or replace trigger announce
after insert or delete or update of name, default_locale, locales, timezone, cooldown_days, ip_mode,
identity_attributes_allowed, appearance
on tenants
for each row execute function announce_change();
