-- Returns a hash of the request that starts a conversation.
create or replace function conversation_start_hash(
  identity text, verified boolean, previous uuid, author_type text, author_id text, client_message_id text
)
returns bytea
language sql stable set search_path = public, pg_temp as $$
  select sha256(convert_to(
    jsonb_build_array(identity, verified, previous, author_type, author_id, client_message_id)::text, 'UTF8'))
$$;
grant execute on function conversation_start_hash to parley_app, parley_worker;
