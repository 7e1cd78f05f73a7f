-- Stored answers. `once_per_card`: only one answer to the card is counted. `over_quota`: it exceeded the question's limit.
create table answers (
  tenant_id uuid not null,
  id uuid not null,
  identity text collate "C" not null,
  identity_verified boolean not null,
  card_id uuid not null,
  question_id uuid not null,
  question_version int not null,
  revision int not null,
  state text not null,
  "values" jsonb not null,
  comment text,
  displayed_at timestamptz(3),
  answered_at timestamptz(3),
  duration_ms int,
  metadata jsonb not null,
  content_hash text not null,
  clock_skew_ms bigint,
  tags text[] not null,
  received_at timestamptz(3) not null,
  stored_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  revised_from jsonb,
  once_per_card boolean not null default false,
  over_quota boolean not null default false,
  primary key (tenant_id, id)
) with (
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.02
);
create index answers_newest on answers (tenant_id, received_at, id);
create index answers_of_question on answers (tenant_id, question_id, received_at, id);
create index answers_updated on answers (tenant_id, updated_at, id);
create index answers_tagged on answers (tenant_id, received_at, id) where tags <> '{}';
create index answers_by_identity on answers (tenant_id, identity, identity_verified);
alter table answers enable row level security;
create policy one_tenant on answers to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on answers to parley_worker using (true);
grant select, insert, update, delete on answers to parley_app, parley_worker;

-- The ids of deleted and expired answers, so that a late delivery does not store them again.
create table deleted_answers (
  tenant_id uuid not null,
  id uuid not null,
  deleted_at timestamptz(3) not null,
  expired boolean not null default false,
  primary key (tenant_id, id)
) with (
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.02
);
create index deleted_answers_newest on deleted_answers (tenant_id, deleted_at) where not expired;
create index deleted_answers_expired on deleted_answers (deleted_at) where expired;
alter table deleted_answers enable row level security;
create policy one_tenant on deleted_answers to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on deleted_answers to parley_worker using (true);
grant select, insert, update, delete on deleted_answers to parley_app, parley_worker;

-- Answers that were deleted without a row in `deleted_answers`, so by none of our statements.
create table vanished_answers (
  tenant_id uuid not null,
  id uuid not null,
  vanished_at timestamptz(3) not null,
  primary key (tenant_id, id)
);
alter table vanished_answers enable row level security;
create policy one_tenant on vanished_answers to parley_app using (tenant_id = :current_tenant);
grant select, insert, update, delete on vanished_answers to parley_app;

-- Answers to the preview of a question. A table of its own, so that no list, result or retention of answers has to exclude them.
create table test_answers (
  tenant_id uuid not null,
  id uuid not null,
  question_id uuid not null,
  question_version int not null,
  member_id uuid not null,
  card_id uuid not null,
  revision int not null,
  state text not null,
  "values" jsonb not null,
  comment text,
  displayed_at timestamptz(3),
  answered_at timestamptz(3),
  duration_ms int,
  metadata jsonb not null,
  clock_skew_ms bigint,
  received_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (tenant_id, id)
);
create index test_answers_of_question on test_answers (tenant_id, question_id, received_at);
create index test_answers_oldest on test_answers (received_at);
alter table test_answers enable row level security;
create policy one_tenant on test_answers to parley_app using (tenant_id = :current_tenant);
grant select, insert, update, delete on test_answers to parley_app;

-- The indexed words of an answer, deleted with it (docs/decisions/0028). The pending list is small, because each search reads it.
create table answer_words (
  tenant_id uuid not null,
  received_at timestamptz(3) not null,
  id uuid not null,
  words tsvector not null,
  primary key (tenant_id, received_at, id)
) with (
  autovacuum_analyze_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_vacuum_scale_factor = 0.05
);
create index answer_words_found on answer_words using gin (words) with (gin_pending_list_limit = 1024);
alter table answer_words enable row level security;
create policy one_tenant on answer_words to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on answer_words to parley_worker using (true);
grant select, insert, update, delete on answer_words to parley_app, parley_worker;
