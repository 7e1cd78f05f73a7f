-- Messages, notes and events of conversations. Notes and events have their own numbers, `note_seq`.
create table messages (
  tenant_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  seq int not null,
  note_seq int not null,
  kind text not null,
  author_type text not null,
  author_id text,
  body text not null,
  format text not null,
  client_message_id text,
  created_at timestamptz(3) not null,
  edited_at timestamptz(3),
  redacted boolean not null,
  author_name text,
  event jsonb,
  mentions uuid[] not null default '{}',
  primary key (tenant_id, id)
) with (
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.02
);
-- Without statistics the next two seem to cost the same for a look-up by all keys. PostgreSQL then takes the one that was made last.
create unique index messages_in_order on messages (tenant_id, conversation_id, seq, note_seq);
create unique index messages_author_client_id on messages (tenant_id, conversation_id, author_type, author_id, client_message_id);
create index messages_notes on messages (tenant_id, conversation_id, note_seq) where note_seq > 0;
alter table messages enable row level security;
create policy one_tenant on messages to parley_app using (tenant_id = :current_tenant);
grant select, insert, update, delete on messages to parley_app;

-- The indexed words of a message, or under the conversation's id those of its subject.
create table message_words (
  tenant_id uuid not null,
  conversation_id uuid not null,
  id uuid not null,
  words tsvector not null,
  primary key (tenant_id, conversation_id, id)
) with (
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.02
);
create index message_words_found on message_words using gin (words) with (gin_pending_list_limit = 1024);
alter table message_words enable row level security;
create policy one_tenant on message_words to parley_app using (tenant_id = :current_tenant);
grant select, insert, update, delete on message_words to parley_app;
