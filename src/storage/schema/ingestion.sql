-- Answers that could not be stored, with the reason.
create table quarantined_answers (
  tenant_id uuid not null,
  id uuid not null,
  answer_id uuid not null,
  reason text not null,
  detail text not null,
  payload text not null,
  quarantined_at timestamptz(3) not null,
  primary key (tenant_id, id)
);
create index quarantined_answers_newest on quarantined_answers (tenant_id, quarantined_at, id);
alter table quarantined_answers enable row level security;
create policy one_tenant on quarantined_answers to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on quarantined_answers to parley_worker using (true);
grant select, insert, update, delete on quarantined_answers to parley_app, parley_worker;

-- Totals of a tenant's answers by outcome.
create table ingestion_totals (
  tenant_id uuid primary key,
  stored bigint not null,
  repeated bigint not null,
  quarantined bigint not null,
  rejected bigint not null
);
alter table ingestion_totals enable row level security;
create policy one_tenant on ingestion_totals to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on ingestion_totals to parley_worker using (true);
grant select, insert, update, delete on ingestion_totals to parley_app, parley_worker;

-- The flushes that are recorded, so that a repeated delivery changes nothing. `in_parts`: answer by answer.
create table recorded_flushes (
  id uuid primary key,
  recorded_at timestamptz(3) not null,
  in_parts boolean not null default false
);
create index recorded_flushes_oldest on recorded_flushes (recorded_at);
grant select, insert, delete on recorded_flushes to parley_worker;
grant select on recorded_flushes to parley_app;

-- The flushes that API processes claim to have made durable (docs/decisions/0014).
-- From `open_since` on, unsettled ones may have been recorded; an audit after their marks were removed cannot examine them.
create table flush_producers (
  id uuid primary key,
  written bigint not null,
  settled bigint not null,
  voided bigint[] not null,
  held bigint[] not null,
  claimed_at timestamptz(3) not null,
  open_since timestamptz(3) not null default now()
);
grant select, insert, update, delete on flush_producers to parley_app;

-- Flushes that were claimed and are not recorded.
create table lost_flushes (
  id uuid primary key,
  found_at timestamptz(3) not null
);
grant select, insert, update, delete on lost_flushes to parley_app;
