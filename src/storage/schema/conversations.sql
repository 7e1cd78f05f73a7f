-- Conversations of users with the team. `rules_checked` is the version of the assignment rules that last checked it.
create table conversations (
  tenant_id uuid not null,
  id uuid not null,
  identity text collate "C" not null,
  identity_verified boolean not null,
  subject text not null,
  status text not null,
  priority text not null,
  assignee_id uuid,
  tags text[] not null,
  source_type text not null,
  client_message_id text,
  last_seq int not null,
  last_note_seq int not null,
  last_preview text not null,
  last_author_type text not null,
  user_read_seq int not null,
  team_read_seq int not null,
  user_unread int not null,
  team_unread int not null,
  waiting_since timestamptz(3),
  first_reply_at timestamptz(3),
  resolved_at timestamptz(3),
  previous_id uuid,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  team_updated_at timestamptz(3) not null,
  last_activity_at timestamptz(3) not null,
  started_by text not null default '',
  snoozed_until timestamptz(3),
  merged_into_id uuid,
  mentioned uuid[] not null default '{}',
  reply_due_at timestamptz(3),
  custom jsonb not null default '{}',
  rules_checked int not null default 0,
  assignment_rule uuid,
  assignment_waits boolean not null default false,
  primary key (tenant_id, id)
) with (
  autovacuum_analyze_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_vacuum_scale_factor = 0.05
);
create index conversations_active on conversations (tenant_id, last_activity_at, id);
create index conversations_of_identity on conversations (tenant_id, identity, identity_verified, last_activity_at, id);
create index conversations_updated on conversations (tenant_id, team_updated_at, id);
create index conversations_tagged on conversations (tenant_id, last_activity_at, id) where tags <> '{}';
create unique index conversations_starter_client_id
  on conversations (tenant_id, identity, identity_verified, source_type, started_by, client_message_id);
create index conversations_created on conversations (tenant_id, created_at, id);
create index conversations_updated_of_identity on conversations (tenant_id, identity, identity_verified, updated_at, id);
create index conversations_snoozed on conversations (snoozed_until) where status = 'snoozed';
create index conversations_counted on conversations (tenant_id, status, last_activity_at, id)
  include (assignee_id, priority, source_type, team_unread, identity_verified, reply_due_at);
create index conversations_counted_of_assignee on conversations (tenant_id, assignee_id, last_activity_at, id)
  include (status, priority, source_type, team_unread, identity_verified, reply_due_at);
create index conversations_open_of_assignee on conversations (tenant_id, assignee_id, last_activity_at, id)
  include (priority, source_type, team_unread, identity_verified, reply_due_at)
  where status = 'open';
create index conversations_mentioned on conversations (tenant_id, last_activity_at, id) where mentioned <> '{}';
create index conversations_due on conversations (tenant_id, reply_due_at, id) where reply_due_at is not null;
create index conversations_to_assign on conversations (tenant_id, rules_checked, created_at, id)
  where status = 'open' and assignee_id is null;
create index conversations_waiting on conversations (tenant_id, assignment_rule, created_at, id)
  where status = 'open' and assignee_id is null and assignment_waits;
create index conversations_held on conversations (tenant_id, assignee_id, id)
  where status in ('open', 'pending') and assignee_id is not null;
create index conversations_counted_unread on conversations (tenant_id, last_activity_at, id)
  include (status, assignee_id, priority, source_type, identity_verified, reply_due_at)
  where team_unread > 0;
create index conversations_open_mentioned on conversations (tenant_id, last_activity_at, id)
  where mentioned <> '{}' and status = 'open';
create index conversations_merged on conversations (tenant_id, merged_into_id) where merged_into_id is not null;
create index conversations_by_wait on conversations (tenant_id, waiting_since, id)
  where status = 'open' and waiting_since is not null;
create index conversations_continued on conversations (tenant_id, previous_id) where previous_id is not null;
create index conversations_snoozed_of_tenant on conversations (tenant_id, snoozed_until) where status = 'snoozed';
create index conversations_of_user_active on conversations (tenant_id, identity, identity_verified)
  where status in ('open', 'pending');
alter table conversations enable row level security;
create policy one_tenant on conversations to parley_app using (tenant_id = :current_tenant);
grant select, insert, update, delete on conversations to parley_app;

-- Deleted conversations, so that incremental readers can delete their copies. Without any text.
create table conversation_tombstones (
  tenant_id uuid not null,
  id uuid not null,
  identity text collate "C" not null,
  identity_verified boolean not null,
  deleted_at timestamptz(3) not null,
  primary key (tenant_id, id)
);
create index conversation_tombstones_in_order on conversation_tombstones (tenant_id, deleted_at, id);
create index conversation_tombstones_oldest on conversation_tombstones (deleted_at);
alter table conversation_tombstones enable row level security;
create policy one_tenant on conversation_tombstones to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on conversation_tombstones to parley_worker using (true);
grant select, insert, update, delete on conversation_tombstones to parley_app, parley_worker;

-- Hashes of the requests that would start a deleted conversation again, so that a late retry does not.
create table deleted_conversations (
  tenant_id uuid not null,
  start_hash bytea not null,
  deleted_at timestamptz(3) not null,
  primary key (tenant_id, start_hash)
);
create index deleted_conversations_oldest on deleted_conversations (deleted_at);
alter table deleted_conversations enable row level security;
create policy one_tenant on deleted_conversations to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on deleted_conversations to parley_worker using (true);
grant select, insert, update, delete on deleted_conversations to parley_app, parley_worker;
