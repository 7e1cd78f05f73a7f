-- The counts of a question's answers by day, version and kind of identity (docs/decisions/0016).
create table question_results (
  tenant_id uuid not null,
  question_id uuid not null,
  day date not null,
  question_version int not null,
  identity_verified boolean not null,
  seen int not null,
  dismissed int not null,
  partial int not null,
  completed int not null,
  written int not null,
  scores int[] not null,
  choices jsonb not null,
  primary key (tenant_id, question_id, day, question_version, identity_verified)
) with (fillfactor = 70);
alter table question_results enable row level security;
create policy one_tenant on question_results to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on question_results to parley_worker using (true);
grant select, insert, update, delete on question_results to parley_app, parley_worker;

-- The counts of a follow-up step, by day, version and kind of identity.
create table question_step_results (
  tenant_id uuid not null,
  question_id uuid not null,
  step text not null,
  day date not null,
  question_version int not null,
  identity_verified boolean not null,
  partial int not null,
  completed int not null,
  skipped int not null,
  "left" int not null,
  written int not null,
  scores int[] not null,
  choices jsonb not null,
  primary key (tenant_id, question_id, step, day, question_version, identity_verified)
) with (fillfactor = 70);
alter table question_step_results enable row level security;
create policy one_tenant on question_step_results to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on question_step_results to parley_worker using (true);
grant select, insert, update, delete on question_step_results to parley_app, parley_worker;

-- The places that completed answers have taken of a question's limit, by period (docs/decisions/0041). Storing answers locks the
-- row, so it is not part of the question, whose changes must not wait for that.
create table response_quotas (
  tenant_id uuid not null,
  question_id uuid not null,
  taken jsonb not null default '{}',
  primary key (tenant_id, question_id)
) with (fillfactor = 50);
alter table response_quotas enable row level security;
create policy one_tenant on response_quotas to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on response_quotas to parley_worker using (true);
grant select, insert, update, delete on response_quotas to parley_app, parley_worker;
