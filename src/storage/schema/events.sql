-- The floor of the places of events, raised by each numbering.
create sequence event_floor minvalue 0 start 0;
grant select on sequence event_floor to parley_app, parley_worker;

-- Events of a tenant (docs/decisions/0047). `place` is the time in microseconds since 1970, but at least the floor (`event_floor`),
-- which each numbering raises first. So a place is after the numbered ones, even if a clock steps back.
create table events (
  tenant_id uuid not null,
  id uuid not null default event_id_at(clock_timestamp(), gen_random_uuid()),
  type text not null,
  object_type text not null,
  object_id uuid not null,
  conversation_id uuid,
  data jsonb not null default '{}',
  written_at timestamptz(6) not null default time_of_write(),
  ordinal int not null default 0,
  place bigint not null default place_of_write(),
  primary key (tenant_id, id)
);
create index events_in_place on events (place);
alter table events enable row level security;
create policy one_tenant on events to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on events to parley_worker using (true);
grant select, insert on events to parley_app;
grant select, insert, update, delete on events to parley_worker;

-- Up to 50 events of a tenant with consecutive numbers: `ids` and `types` in their order, `last` the number of the last one.
create table event_batches (
  tenant_id uuid not null,
  last bigint not null,
  ids uuid[] not null,
  types text[] not null,
  written_until timestamptz(6) not null,
  primary key (tenant_id, last)
);
create index event_batches_by_time on event_batches (tenant_id, written_until, last);
alter table event_batches enable row level security;
create policy one_tenant on event_batches to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on event_batches to parley_worker using (true);
grant select on event_batches to parley_app;
grant select, insert, update, delete on event_batches to parley_worker;

-- The number of each tenant's last numbered event, which remains when its events are deleted.
create table event_sequences (
  tenant_id uuid primary key,
  last bigint not null
);
alter table event_sequences enable row level security;
create policy one_tenant on event_sequences to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on event_sequences to parley_worker using (true);
grant select on event_sequences to parley_app, parley_worker;

-- The single row of `number_events`: the place before which all events have numbers, the one before which no open write can
-- add any, and the last floor with the id of the transaction that raised it.
create table event_numbering (
  is_only boolean primary key default true check (is_only),
  numbered_until bigint not null,
  settled_until bigint not null,
  floor bigint not null,
  floor_set_by bigint not null
);

-- A tenant whose events are numbered separately, from this place on (`number_held_events`).
create table held_events (
  tenant_id uuid primary key,
  numbered_until bigint not null,
  last_place bigint not null,
  held_at timestamptz(3) not null default clock_timestamp()
);
alter table held_events enable row level security;
create policy one_tenant on held_events to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on held_events to parley_worker using (true);
grant select, insert, update, delete on held_events to parley_app, parley_worker;

insert into event_numbering values (true, 1, 1, 1, 0);
