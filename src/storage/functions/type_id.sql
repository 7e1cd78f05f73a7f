-- Returns an id as shown by the API, with its prefix, such as `conversation_…`.
create or replace function type_id(prefix text, id uuid) returns text
language sql immutable strict parallel safe set search_path = public, pg_temp as $$
  select prefix || '_' || string_agg(
    substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits from 5 * place + 1 for 5)::bit(5)::int + 1, 1), '' order by place)
  from (select b'00' || ('x' || replace(id::text, '-', ''))::bit(128) as bits) as value, generate_series(0, 25) as place
$$;
grant execute on function type_id to parley_app, parley_worker;
