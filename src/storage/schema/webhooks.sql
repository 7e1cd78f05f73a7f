-- A webhook, and how far it has got in the feed (docs/decisions/0048). A worker that delivers holds its lease.
create table webhooks (
  tenant_id uuid not null,
  id uuid not null,
  url text not null,
  description text not null,
  event_types text[] not null,
  payload text not null,
  ordered boolean not null,
  status text not null,
  disabled_reason text,
  secret_sealed bytea not null,
  previous_secret_sealed bytea,
  previous_secret_until timestamptz(3),
  feed_position bigint not null,
  failures int not null default 0,
  failing_since timestamptz(3),
  due_at timestamptz(3),
  lease uuid,
  lease_until timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (tenant_id, id)
);
create index webhooks_by_due_time on webhooks (due_at) where due_at is not null;
alter table webhooks enable row level security;
create policy one_tenant on webhooks to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on webhooks to parley_worker using (true);
grant select, insert, update, delete on webhooks to parley_app, parley_worker;

-- Attempts to send an event to a webhook, and those that are due later.
create table deliveries (
  tenant_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  sequence bigint,
  type text not null,
  object_id uuid not null,
  event_at timestamptz(3) not null,
  attempt int not null,
  at timestamptz(3) not null,
  status text not null,
  response_status int,
  duration_ms int,
  error text,
  response text,
  primary key (tenant_id, id)
);
create index deliveries_of_webhook on deliveries (tenant_id, webhook_id, at, id);
create index deliveries_of_object on deliveries (tenant_id, object_id) where response is not null;
create index deliveries_by_age on deliveries (at);
create index deliveries_due on deliveries (tenant_id, webhook_id, at) where status = 'waiting';
create index deliveries_in_turn on deliveries (tenant_id, webhook_id, sequence nulls first) where status = 'waiting';
alter table deliveries enable row level security;
create policy one_tenant on deliveries to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on deliveries to parley_worker using (true);
grant select, insert, update, delete on deliveries to parley_app, parley_worker;
