import { Migration } from '@mikro-orm/migrations';

/** Tables whose rows belong to a tenant. The tenant comes first in each key, for later use of Citus or partitions. */
const TENANT_TABLES = [
  'members',
  'api_keys',
  'questions',
  'question_versions',
  'answers',
  'deleted_answers',
  'card_records',
  'quarantined_answers',
  'ingestion_totals',
  'conversations',
  'messages',
  'idempotency_keys',
];

/** Tables that the worker accesses for all tenants in one statement. */
const WORKER_TABLES = ['answers', 'deleted_answers', 'card_records', 'quarantined_answers', 'ingestion_totals'];

/**
 * The first schema: tenants, keys, questions, answers, conversations, and row-level security. `ensureRoles` has created
 * the roles.
 */
export class Foundation extends Migration {
  override up(): void {
    this.createTables();
    this.createConversations();
    this.createBookkeeping();
    this.raiseWalls();
    this.announceChanges();
    this.createDefinerFunctions();
  }

  private createTables(): void {
    this.addSql(`
create table tenants (
  id uuid primary key,
  name text not null,
  cooldown_days int not null default 7,
  created_at timestamptz(3) not null
)`);
    this.addSql(`
create table members (
  tenant_id uuid not null,
  id uuid not null,
  email text not null,
  role text not null,
  password_hash text not null,
  created_at timestamptz(3) not null,
  primary key (tenant_id, id),
  constraint members_email_key unique (tenant_id, email)
)`);
    this.addSql(`
create table api_keys (
  tenant_id uuid not null,
  id uuid not null,
  name text not null,
  kind text not null,
  scopes text[] not null,
  allowed_origins text[] not null,
  secret_sealed bytea not null,
  bearer_hash bytea,
  hint text not null,
  previous_secret_sealed bytea,
  previous_bearer_hash bytea,
  previous_valid_until timestamptz(3),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  primary key (tenant_id, id)
)`);
    this.addSql('create unique index api_keys_id on api_keys (id)');
    this.addSql(`
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
  primary key (tenant_id, id)
)`);
    this.addSql('create index questions_newest on questions (tenant_id, created_at, id)');
    this.addSql(`
create table question_versions (
  tenant_id uuid not null,
  question_id uuid not null,
  version int not null,
  type text not null,
  title text not null,
  description text not null,
  config jsonb not null,
  created_at timestamptz(3) not null,
  primary key (tenant_id, question_id, version)
)`);
    this.addSql(`
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
  primary key (tenant_id, id)
)`);
    this.addSql('create index answers_newest on answers (tenant_id, received_at, id)');
    this.addSql('create index answers_of_question on answers (tenant_id, question_id, received_at, id)');
    this.addSql('create index answers_of_identity on answers (tenant_id, identity, received_at, id)');
    this.addSql('create index answers_updated on answers (tenant_id, updated_at, id)');
    this.addSql(`
create table deleted_answers (
  tenant_id uuid not null,
  id uuid not null,
  deleted_at timestamptz(3) not null,
  primary key (tenant_id, id)
)`);
    this.addSql(`
create table card_records (
  tenant_id uuid not null,
  identity text collate "C" not null,
  identity_verified boolean not null,
  question_id uuid not null,
  shown_at timestamptz(3) not null,
  dismissed_at timestamptz(3),
  answered_at timestamptz(3),
  primary key (tenant_id, identity, identity_verified, question_id)
)`);
    this.addSql(`
create table quarantined_answers (
  tenant_id uuid not null,
  id uuid not null,
  answer_id uuid not null,
  reason text not null,
  detail text not null,
  payload text not null,
  quarantined_at timestamptz(3) not null,
  primary key (tenant_id, id)
)`);
    this.addSql('create index quarantined_answers_newest on quarantined_answers (tenant_id, quarantined_at, id)');
  }

  private createConversations(): void {
    this.addSql(`
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
  primary key (tenant_id, id)
)`);
    this.addSql('create index conversations_active on conversations (tenant_id, last_activity_at, id)');
    this.addSql('create index conversations_of_status on conversations (tenant_id, status, last_activity_at, id)');
    this.addSql(
      'create index conversations_of_identity on conversations (tenant_id, identity, identity_verified, last_activity_at, id)',
    );
    this.addSql('create index conversations_updated on conversations (tenant_id, team_updated_at, id)');
    this.addSql(
      'create unique index conversations_client_id on conversations (tenant_id, identity, identity_verified, source_type, client_message_id)',
    );
    this.addSql(`
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
  primary key (tenant_id, id)
)`);
    this.addSql('create unique index messages_in_order on messages (tenant_id, conversation_id, seq, note_seq)');
    this.addSql(
      'create unique index messages_client_id on messages (tenant_id, conversation_id, author_type, client_message_id)',
    );
  }

  private createBookkeeping(): void {
    this.addSql(`
create table ingestion_totals (
  tenant_id uuid primary key,
  stored bigint not null,
  repeated bigint not null,
  quarantined bigint not null,
  rejected bigint not null
)`);
    this.addSql('create table recorded_flushes (id uuid primary key, recorded_at timestamptz(3) not null)');
    this.addSql('create index recorded_flushes_oldest on recorded_flushes (recorded_at)');
    this.addSql(`
create table idempotency_keys (
  tenant_id uuid not null,
  credential_id uuid not null,
  key text not null,
  request_hash text not null,
  status int,
  headers jsonb,
  body text,
  created_at timestamptz(3) not null,
  primary key (tenant_id, credential_id, key)
)`);
    this.addSql('create index idempotency_keys_oldest on idempotency_keys (created_at)');
    this.addSql(
      'create unlogged table rate_counters (key text primary key, count bigint not null, expires_at timestamptz(3) not null)',
    );
    this.addSql('create table schema_state (version int primary key, oldest_compatible int not null)');
    this.addSql('insert into schema_state values (1, 1)');
  }

  private raiseWalls(): void {
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    this.addSql('grant usage on schema public to parley_app, parley_worker');
    const wall = (table: string, column: string) => {
      this.addSql(`alter table ${table} enable row level security`);
      this.addSql(`create policy one_tenant on ${table} to parley_app using (${column} = ${tenant})`);
      this.addSql(`grant select, insert, update, delete on ${table} to parley_app`);
    };
    wall('tenants', 'id');
    for (const table of TENANT_TABLES) wall(table, 'tenant_id');
    for (const table of WORKER_TABLES) {
      this.addSql(`create policy every_tenant on ${table} to parley_worker using (true)`);
      this.addSql(`grant select, insert, update, delete on ${table} to parley_worker`);
    }
    this.addSql('grant select, insert, delete on recorded_flushes to parley_worker');
    this.addSql('grant select on recorded_flushes to parley_app');
    this.addSql('grant select, insert, update, delete on rate_counters to parley_app');
    this.addSql('grant select on schema_state to parley_app, parley_worker');
  }

  /** Triggers announce every change of data that processes cache, so that no writer can omit it. */
  private announceChanges(): void {
    this.addSql(`
create function announce_change() returns trigger language plpgsql as $$
declare changed jsonb := to_jsonb(coalesce(new, old));
begin
  perform pg_notify('parley_changes', json_build_object(
    'table', tg_table_name,
    'tenant_id', coalesce(changed->>'tenant_id', changed->>'id'),
    'id', changed->>'id'
  )::text);
  return null;
end $$`);
    const announce = (table: string, events: string) =>
      this.addSql(
        `create trigger announce after ${events} on ${table} for each row execute function announce_change()`,
      );
    announce('tenants', 'insert or update or delete');
    announce('questions', 'insert or update or delete');
    announce('deleted_answers', 'insert');
    announce(
      'api_keys',
      'insert or delete or update of name, scopes, allowed_origins, secret_sealed, bearer_hash, previous_valid_until, expires_at, revoked_at',
    );
    this.announceCardRecords();
  }

  /**
   * Identifies changed card records by 11 characters of a SHA-256 each: short and without personal data. Collisions do
   * no harm. 600 per notice, which may have 8000 bytes. `recordDigest` is the same in TypeScript.
   */
  private announceCardRecords(): void {
    this.addSql(`
create function announce_card_records() returns trigger language plpgsql as $$
begin
  perform pg_notify('parley_records', string_agg(digest, ' '))
  from (
    select digest, (row_number() over () - 1) / 600 as part
    from (
      select distinct left(encode(sha256(convert_to(
        tenant_id::text || ' ' || identity_verified::text || ' ' || identity, 'UTF8')), 'base64'), 11) as digest
      from changed
    ) as owners
  ) as parts
  group by part;
  return null;
end $$`);
    for (const [event, rows] of [
      ['insert', 'new'],
      ['update', 'new'],
      ['delete', 'old'],
    ])
      this.addSql(`
create trigger announce_${event} after ${event} on card_records
referencing ${rows} table as changed for each statement execute function announce_card_records()`);
  }

  /**
   * Functions for queries before, or outside of, a tenant. They run with the owner's rights, each for one narrow
   * purpose.
   */
  private createDefinerFunctions(): void {
    this.addSql(`
create function find_api_key(key_id uuid) returns setof api_keys
language sql stable security definer set search_path = public, pg_temp
as 'select * from api_keys where id = key_id'`);
    this.addSql(`
create function touch_api_keys(key_ids uuid[], used_at timestamptz) returns void
language sql security definer set search_path = public, pg_temp
as 'update api_keys set last_used_at = used_at where id = any(key_ids) and (last_used_at is null or last_used_at < used_at)'`);
    this.addSql(`
create function count_rejected(tenant_ids uuid[], counts bigint[]) returns void
language sql security definer set search_path = public, pg_temp
as 'insert into ingestion_totals select tenant_id, 0, 0, 0, rejected from unnest(tenant_ids, counts) as rejection(tenant_id, rejected)
    order by 1 on conflict (tenant_id) do update set rejected = ingestion_totals.rejected + excluded.rejected'`);
    this.addSql(`
create function oldest_open_write() returns timestamptz
language sql volatile security definer set search_path = public, pg_temp
as 'select least(min(xact_start), statement_timestamp()) from pg_stat_activity
    where datname = current_database() and backend_xid is not null and pid <> pg_backend_pid()'`);
    this.addSql(`
create function forget_expired(kept interval) returns void
language sql security definer set search_path = public, pg_temp
as 'delete from idempotency_keys where created_at < clock_timestamp() - interval ''24 hours'';
    delete from rate_counters where expires_at < clock_timestamp();
    delete from recorded_flushes where recorded_at < clock_timestamp() - kept'`);
    for (const name of [
      'find_api_key(uuid)',
      'touch_api_keys(uuid[], timestamptz)',
      'count_rejected(uuid[], bigint[])',
      'oldest_open_write()',
      'forget_expired(interval)',
    ]) {
      this.addSql(`revoke all on function ${name} from public`);
      this.addSql(`grant execute on function ${name} to parley_app, parley_worker`);
    }
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/ARCHITECTURE.md).');
  }
}
