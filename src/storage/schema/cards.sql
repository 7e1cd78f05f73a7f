-- The state of each card of an identity: views, dismissal, answer, and the counted answer. `last_value` is that of
-- `last_answer_id`, and removed with it. The free space of its pages keeps changes from updating an index.
create table card_records (
  tenant_id uuid not null,
  identity text collate "C" not null,
  identity_verified boolean not null,
  question_id uuid not null,
  shown_at timestamptz(3) not null,
  dismissed_at timestamptz(3),
  answered_at timestamptz(3),
  counted_answer_id uuid,
  counted_completed boolean not null default false,
  counted_before uuid,
  displays int not null default 1,
  last_value jsonb,
  last_answer_id uuid,
  counted_since timestamptz(3),
  primary key (tenant_id, identity, identity_verified, question_id)
) with (
  fillfactor = 70,
  autovacuum_analyze_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_vacuum_scale_factor = 0.05
);
alter table card_records enable row level security;
create policy one_tenant on card_records to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on card_records to parley_worker using (true);
grant select, insert, update, delete on card_records to parley_app, parley_worker;
