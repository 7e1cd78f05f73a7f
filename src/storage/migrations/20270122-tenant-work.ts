import { Migration } from '@mikro-orm/migrations';

const BY_SYSTEM = `jsonb_build_object('by', jsonb_build_object('type', 'system', 'id', null))`;
const NUMBERING_LOCK = `hashtextextended('number events', 0)`;
/** How long numbering waits for a row that another transaction has locked. All tenants wait meanwhile. */
const NUMBERING_LOCK_TIMEOUT = '500ms';

/**
 * The loops of the worker work for one tenant at a time, so that a tenant whose work fails delays no other
 * (docs/decisions/0051).
 *
 * - `marked_tenants`: tenants with a write that a loop has to look at.
 * - `held_events`: tenants whose events are numbered separately, because numbering all tenants failed.
 * - The functions for timers and schedules move rows of one tenant, and others find the tenants.
 */
export class TenantWork extends Migration {
  override up(): void {
    this.markTenants();
    this.findToAssign();
    this.wakeSnoozed();
    this.resolvePending();
    this.moveQuestions();
    this.findTextsToIndex();
    this.holdEvents();
    this.numberEvents();
  }

  /**
   * `mark_tenant` allocates the transaction's id before the snapshot with which it looks for a mark. So a transaction that
   * relies on an earlier mark has a lower id than any transaction that starts after that mark was taken.
   */
  private markTenants(): void {
    this.addSql(`
create table marked_tenants (
  tenant_id uuid not null,
  kind text not null,
  id uuid not null default gen_random_uuid(),
  marked_at timestamptz(3) not null default clock_timestamp(),
  taken boolean not null default false,
  taken_before bigint,
  primary key (tenant_id, kind, id)
)`);
    this.protect('marked_tenants');
    this.addSql(`
create function mark_tenant(tenant uuid, work text) returns void
language plpgsql volatile as $$
begin
  perform pg_current_xact_id();
  insert into public.marked_tenants (tenant_id, kind)
  select tenant, work where not exists (
    select from public.marked_tenants where tenant_id = tenant and kind = work and not taken);
end $$`);
    this.addSql(`
insert into marked_tenants (tenant_id, kind)
select tenant_id, 'assignment' from assignment_rules where jsonb_array_length(rules) > 0`);
  }

  private protect(table: string): void {
    this.addSql(`alter table ${table} enable row level security`);
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    this.addSql(`create policy one_tenant on ${table} to parley_app using (tenant_id = ${tenant})`);
    this.addSql(`create policy every_tenant on ${table} to parley_worker using (true)`);
    this.addSql(`grant select, insert, update, delete on ${table} to parley_app, parley_worker`);
  }

  private grant(name: string, role = 'parley_worker'): void {
    this.addSql(`revoke all on function ${name} from public`);
    this.addSql(`grant execute on function ${name} to ${role}`);
  }

  /** The condition of `tenants_to_assign` in 20270103, for one tenant. */
  private findToAssign(): void {
    this.addSql(`
create function has_to_assign(tenant uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp
as $$
  select exists (select from assignment_rules as rules_of where tenant_id = tenant and jsonb_array_length(rules_of.rules) > 0 and (
    (
      select rules_checked from conversations as found
      where found.tenant_id = tenant and found.status = 'open' and found.assignee_id is null
      order by rules_checked, created_at, id limit 1
    ) < rules_of.version or exists (
      select from jsonb_array_elements(rules_of.rules) as rule(value)
      cross join lateral (select value #> '{then,assign}' as assign) as target
      where (
        select true from conversations as waiting
        where waiting.tenant_id = tenant and waiting.status = 'open' and waiting.assignee_id is null
          and waiting.assignment_waits and waiting.assignment_rule = (rule.value ->> 'id')::uuid
        order by created_at, id limit 1
      ) and exists (
        select from members
        where members.tenant_id = tenant and members.availability = 'active'
          and members.id in (select jsonb_array_elements_text(
            coalesce(assign -> 'round_robin', assign -> 'least_busy', jsonb_build_array(assign -> 'member_id')))::uuid)
          and (select count(*) from (
            select from conversations as held where held.tenant_id = members.tenant_id and held.assignee_id = members.id
              and held.status in ('open', 'pending') order by id limit members.capacity) as counted) < members.capacity
      )
    )
  ))
$$`);
    this.grant('has_to_assign(uuid)');
    this.addSql(`
create or replace function tenants_to_assign() returns setof uuid
language sql stable security definer set search_path = public, pg_temp
as 'select tenant_id from assignment_rules where has_to_assign(tenant_id)'`);
  }

  /** The first condition ends the search at once if no conversation of any tenant is due. */
  private wakeSnoozed(): void {
    const due = "status = 'snoozed' and snoozed_until <= clock_timestamp()";
    this.addSql(`
create function tenants_to_wake() returns setof uuid
language sql stable security definer set search_path = public, pg_temp
as $$
  select id from tenants
  where (select true from conversations where ${due} order by snoozed_until limit 1)
    and (select true from conversations where tenant_id = tenants.id and ${due} order by snoozed_until limit 1)
  order by id
$$`);
    this.grant('tenants_to_wake()');
    this.addSql('drop function wake_conversations(int, text, jsonb, text)');
    this.addSql(`
create function wake_conversations(tenant uuid, at_most int, next_status text, changed jsonb, described text) returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  moment timestamptz(3);
  moved int;
begin
  perform pg_current_xact_id(); -- before the time, so that incremental reads wait for this transaction
  moment := clock_timestamp();
  with due as materialized (
    select tenant_id, id from conversations where tenant_id = tenant and status = 'snoozed' and snoozed_until <= moment
    order by snoozed_until limit at_most for update skip locked
  ), woken as (
    update conversations set status = next_status, snoozed_until = null, last_note_seq = last_note_seq + 1,
      team_updated_at = moment, updated_at = case when last_author_type = 'user' then updated_at else moment end
    from due where conversations.tenant_id = due.tenant_id and conversations.id = due.id
    returning conversations.tenant_id, conversations.id, last_seq, last_note_seq
  ), ${this.statusChange('woken', 'snoozed')}
  select count(*) into moved from noted;
  if moved > 0 then perform mark_tenant(tenant, 'assignment'); end if;
  return moved;
end $$`);
    this.grant('wake_conversations(uuid, int, text, jsonb, text)');
  }

  private resolvePending(): void {
    const due = (tenant: string, days: string) => `tenant_id = ${tenant} and status = 'pending'
        and last_activity_at < clock_timestamp() - make_interval(days => ${days})
        and team_updated_at < clock_timestamp() - make_interval(days => ${days})`;
    this.addSql(`
create function tenants_to_resolve() returns setof uuid
language sql stable security definer set search_path = public, pg_temp
as $$
  select id from tenants where auto_resolve_days is not null and (
    select true from conversations where ${due('tenants.id', 'auto_resolve_days')} order by last_activity_at limit 1)
  order by id
$$`);
    this.grant('tenants_to_resolve()');
    this.addSql('drop function resolve_pending_conversations(int, text, jsonb, text)');
    this.addSql(`
create function resolve_pending_conversations(tenant uuid, at_most int, next_status text, changed jsonb, described text) returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  days int;
  moment timestamptz(3);
  moved int;
begin
  select auto_resolve_days into days from tenants where id = tenant;
  if days is null then return 0; end if;
  perform pg_current_xact_id();
  moment := clock_timestamp();
  with due as materialized (
    select tenant_id, id from conversations where ${due('tenant', 'days')}
    order by last_activity_at limit at_most for update skip locked
  ), resolved as (
    update conversations set status = next_status, resolved_at = moment, waiting_since = null,
      last_note_seq = last_note_seq + 1, team_updated_at = moment, updated_at = moment
    from due where conversations.tenant_id = due.tenant_id and conversations.id = due.id
    returning conversations.tenant_id, conversations.id, last_seq, last_note_seq
  ), ${this.statusChange('resolved', 'pending')}
  select count(*) into moved from noted;
  if moved > 0 then perform mark_tenant(tenant, 'assignment'); end if;
  return moved;
end $$`);
    this.grant('resolve_pending_conversations(uuid, int, text, jsonb, text)');
  }

  /** Records a change of status in each conversation and in the feed. */
  private statusChange(moved: string, from: string): string {
    return `noted as (
    insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, body, format, created_at, redacted, event)
    select tenant_id, gen_random_uuid(), id, last_seq, last_note_seq, 'event', 'system', described, 'text', moment, false, changed
    from ${moved} returning 1
  ), told as (
    insert into events (tenant_id, type, object_type, object_id, data)
    select tenant_id, 'conversation.status_changed', 'conversation', id,
      jsonb_build_object('from', '${from}', 'to', next_status) || ${BY_SYSTEM}
    from ${moved}
  )`;
  }

  private moveQuestions(): void {
    const ends = "end_at is not null and end_at <= clock_timestamp() and status in ('scheduled', 'live', 'paused')";
    const starts = `status = 'scheduled' and (start_at is null or start_at <= clock_timestamp())
      and (end_at is null or end_at > clock_timestamp())`;
    const locked = (which: string) => `select id from questions where tenant_id = tenant and ${which}
      order by id limit at_most for update skip locked`;
    this.addSql(`
create function tenants_to_schedule() returns setof uuid
language sql stable security definer set search_path = public, pg_temp
as $$ select tenant_id from questions where ${ends} union select tenant_id from questions where ${starts} order by 1 $$`);
    this.grant('tenants_to_schedule()');
    this.addSql('drop function move_scheduled_questions()');
    this.addSql(`
create function move_scheduled_questions(tenant uuid, at_most int) returns int
language sql volatile security definer set search_path = public, pg_temp
as $$
  with ended as (
    update questions set status = 'closed', closed_at = end_at, updated_at = clock_timestamp()
    where tenant_id = tenant and id in (${locked(ends)})
    returning tenant_id, id
  ), started as (
    update questions set status = 'live', updated_at = clock_timestamp()
    where tenant_id = tenant and id in (${locked(starts)})
    returning tenant_id, id
  ), told as (
    insert into events (tenant_id, type, object_type, object_id, data)
    select tenant_id, 'question.closed', 'question', id, ${BY_SYSTEM} from ended
    union all select tenant_id, 'question.updated', 'question', id, ${BY_SYSTEM} from started
  )
  select (select count(*) from ended)::int + (select count(*) from started)::int
$$`);
    this.grant('move_scheduled_questions(uuid, int)');
  }

  /** Reads one entry of the index for each tenant, however many texts it has. */
  private findTextsToIndex(): void {
    this.addSql(`
create or replace function tenants_to_index() returns setof uuid
language sql stable security definer set search_path = public, pg_temp set enable_seqscan = off
as $$
  with recursive noted (tenant_id) as (
    (select tenant_id from unindexed_texts order by tenant_id limit 1)
    union all
    select (select tenant_id from unindexed_texts where tenant_id > noted.tenant_id order by tenant_id limit 1)
    from noted where tenant_id is not null
  )
  select tenant_id from search_backlog union select tenant_id from noted where tenant_id is not null order by 1
$$`);
  }

  /**
   * A held tenant's events are not numbered with those of the others. `hold_events` holds the tenants of the next batch.
   * `number_held_events` numbers a held tenant's events, up to the place that the other tenants have reached. It releases the tenant after
   * numbering the last event that it had when it was held, so that numbering all tenants cannot fail on it again.
   *
   * A held tenant starts at the place that all had reached, because open writes may still add events after it.
   */
  private holdEvents(): void {
    this.addSql(`
create table held_events (
  tenant_id uuid primary key,
  numbered_until bigint not null,
  last_place bigint not null,
  held_at timestamptz(3) not null default clock_timestamp()
)`);
    this.protect('held_events');
    this.addSql(`
create function hold_events(at_most int) returns void
language plpgsql security definer set search_path = public, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  state event_numbering;
begin
  if not pg_try_advisory_xact_lock(${NUMBERING_LOCK}) then return; end if;
  select * into strict state from event_numbering;
  insert into held_events
  select tenant_id, state.numbered_until, max(place) from (${this.nextEvents()}) as next
  group by tenant_id order by tenant_id;
end $$`);
    this.addSql(`
create function number_held_events(tenant uuid, at_most int, out numbered int, out remain boolean)
language plpgsql security definer set search_path = public, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set lock_timeout = '${NUMBERING_LOCK_TIMEOUT}' as $$
declare
  state event_numbering;
  held held_events;
  reached bigint;
begin
  numbered := 0;
  remain := true;
  if not pg_try_advisory_xact_lock(${NUMBERING_LOCK}) then return; end if;
  select * into strict state from event_numbering;
  select * into held from held_events where tenant_id = tenant;
  with passed as materialized (
    select tenant_id, id, type, place, written_at from events
    where place >= held.numbered_until and place < state.numbered_until
    order by place fetch first (at_most) rows with ties
  ), fresh as (
    select * from passed where tenant_id = tenant and not exists (select from deleted_tenants where deleted_tenants.id = tenant)
  ), ${this.numberFresh()}
  select coalesce(sum(cardinality(ids)), 0), (select max(place) + 1 from passed having count(*) >= at_most)
  into numbered, reached from batched;
  remain := reached is not null;
  update held_events set numbered_until = coalesce(reached, state.numbered_until) where tenant_id = tenant;
  if not remain then
    delete from held_events where tenant_id = tenant and last_place < state.numbered_until;
  end if;
end $$`);
    this.grant('hold_events(int)');
    this.grant('number_held_events(uuid, int)');
  }

  /** The next events of all tenants that are not held, in SQL: at most `at_most`, and those of the same place as the last. */
  private nextEvents(until = ''): string {
    return `select tenant_id, id, type, place, written_at from events
    where place >= state.numbered_until ${until}
      and not exists (select from deleted_tenants where deleted_tenants.id = events.tenant_id)
      and not exists (select from held_events where held_events.tenant_id = events.tenant_id)
    order by place fetch first (at_most) rows with ties`;
  }

  /** Numbers the events of `fresh`, in SQL, as `batched`. */
  private numberFresh(): string {
    return `placed as (
    select tenant_id, fresh.id, type, place, written_at,
      coalesce(known.last, 0) + row_number() over (partition by tenant_id order by place, fresh.id) as number
    from fresh left join event_sequences as known using (tenant_id)
  ), batched as materialized (
    select tenant_id, max(number) as last, array_agg(id order by number) as ids, array_agg(type order by number) as types,
      max(written_at) as written_until, max(place) as last_place
    from placed group by tenant_id, (number - 1) / 50
  ), listed as (
    insert into event_batches select tenant_id, last, ids, types, written_until from batched
  ), reached as (
    insert into event_sequences select tenant_id, max(last) from batched group by tenant_id order by tenant_id
    on conflict (tenant_id) do update set last = excluded.last
  )`;
  }

  /** `number_events` of 20270113, which leaves out held tenants, and reports whether there are any. */
  private numberEvents(): void {
    this.addSql('drop function number_events(int)');
    this.addSql(`
create function number_events(at_most int, out numbered int, out remain boolean, out has_held boolean)
language plpgsql security definer set search_path = public, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set lock_timeout = '${NUMBERING_LOCK_TIMEOUT}' as $$
declare
  state event_numbering;
  raised bigint;
  own bigint;
  oldest_open bigint;
  last_place bigint;
begin
  numbered := 0;
  select * into strict state from event_numbering;
  perform from events where place >= state.numbered_until limit 1;
  remain := found;
  has_held := exists (select from held_events);
  if not remain or not pg_try_advisory_xact_lock(${NUMBERING_LOCK}) then return; end if;
  select * into strict state from event_numbering;

  select setval('event_floor', greatest((extract(epoch from clock_timestamp()) * 1000000)::bigint, last_value + 1))
    into raised from event_floor;
  own := pg_current_xact_id()::text::bigint;
  select min(own - age(backend_xid)) into oldest_open from pg_stat_activity
    where datname = current_database() and backend_xid is not null and pid <> pg_backend_pid();
  if oldest_open is null then
    state.settled_until := raised;
  elsif state.floor_set_by <= least(oldest_open, own) then
    state.settled_until := greatest(state.settled_until, state.floor);
  end if;
  if oldest_open is null or state.floor_set_by <= oldest_open or state.floor_set_by > own then
    state.floor := raised;
    state.floor_set_by := own;
  end if;

  with fresh as materialized (${this.nextEvents('and place < state.settled_until')}), ${this.numberFresh()}
  select coalesce(sum(cardinality(ids)), 0), max(batched.last_place) into numbered, last_place from batched;
  state.numbered_until := case when numbered < at_most then state.settled_until else last_place + 1 end;
  update event_numbering set numbered_until = state.numbered_until, settled_until = state.settled_until,
    floor = state.floor, floor_set_by = state.floor_set_by;
  perform from events where place >= state.numbered_until limit 1;
  remain := found;
end $$`);
    this.addSql(`
create or replace function oldest_unnumbered_event() returns float8
language sql volatile security definer set search_path = public, pg_temp
as $$
  select greatest(0, extract(epoch from clock_timestamp() - least(
    (select written_at from events where place >= (select numbered_until from event_numbering) order by place limit 1),
    (select min(held_at) from held_events)
  )))::float8
$$`);
    this.grant('number_events(int)');
    this.addSql(`
create function numbered_until() returns text
language sql stable security definer set search_path = public, pg_temp
as 'select numbered_until::text from event_numbering'`);
    this.grant('numbered_until()');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
