-- Announces the identities whose card records or profiles changed, as digests. API processes drop their cached card lists.
-- A notice has at most 8,000 bytes, so 600 digests.
create or replace function announce_card_records() returns trigger
language plpgsql as $$
begin
  perform pg_notify('parley_records', string_agg(digest, ' '))
  from (
    select digest, (row_number() over () - 1) / 600 as part
    from (
      select distinct left(encode(sha256(convert_to(
        tenant_id::text || ' ' || identity_verified::text || ' ' || identity, 'UTF8')), 'base64'), 11) as digest
      from changed
    ) as owners
  ) as parts
  group by part;
  return null;
end $$;

create or replace trigger announce_delete after delete on card_records referencing old table as changed
for each statement execute function announce_card_records();

create or replace trigger announce_insert after insert on card_records referencing new table as changed
for each statement execute function announce_card_records();

create or replace trigger announce_update after update on card_records referencing new table as changed
for each statement execute function announce_card_records();

create or replace trigger announce_delete after delete on identities referencing old table as changed
for each statement execute function announce_card_records();

create or replace trigger announce_insert after insert on identities referencing new table as changed
for each statement execute function announce_card_records();

create or replace trigger announce_update after update on identities referencing new table as changed
for each statement execute function announce_card_records();
