-- Questions with their current texts and their rules: who is asked, when, how often and how many.
create table questions (
  tenant_id uuid not null,
  id uuid not null,
  name text not null,
  status text not null,
  version int not null,
  type text not null,
  title text not null,
  description text not null,
  config jsonb not null,
  frequency jsonb not null,
  allow_public boolean not null,
  priority int not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  published_at timestamptz(3),
  closed_at timestamptz(3),
  follow_ups jsonb not null default '[]',
  thanks jsonb,
  placement text,
  translations jsonb not null default '{}',
  locale text not null default 'en',
  audience jsonb,
  start_at timestamptz(3),
  end_at timestamptz(3),
  trigger jsonb,
  sampling_percent float8 not null default 100,
  response_limit jsonb,
  full_until timestamptz(3),
  primary key (tenant_id, id)
);
create index questions_newest on questions (tenant_id, created_at, id);
create index questions_starting on questions (start_at) where status = 'scheduled';
create index questions_to_end on questions (end_at)
  where end_at is not null and status in ('scheduled', 'live', 'paused');
alter table questions enable row level security;
create policy one_tenant on questions to parley_app using (tenant_id = :current_tenant);
grant select, insert, update, delete on questions to parley_app;

-- The texts of each published version of a question.
create table question_versions (
  tenant_id uuid not null,
  question_id uuid not null,
  version int not null,
  type text not null,
  title text not null,
  description text not null,
  config jsonb not null,
  created_at timestamptz(3) not null,
  follow_ups jsonb not null default '[]',
  thanks jsonb,
  translations jsonb not null default '{}',
  primary key (tenant_id, question_id, version)
);
alter table question_versions enable row level security;
create policy one_tenant on question_versions to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on question_versions for select to parley_worker using (true);
grant select, insert, update, delete on question_versions to parley_app;
grant select on question_versions to parley_worker;
