-- Returns an id of an event that begins with its time.
create or replace function event_id_at(moment timestamptz, random uuid) returns uuid
language sql immutable parallel safe
return encode(set_bit(set_bit(overlay(uuid_send(random)
  placing substring(int8send(floor(extract(epoch from moment) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid;
grant execute on function event_id_at to parley_app, parley_worker;
