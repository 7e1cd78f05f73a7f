import { Migration } from '@mikro-orm/migrations';

/** Webhooks, and the attempts to deliver events to them (docs/decisions/0048). */
export class Webhooks extends Migration {
  override up(): void {
    this.addSql(`
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
)`);
    this.addSql(`
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
)`);
    this.addSql('create index deliveries_of_webhook on deliveries (tenant_id, webhook_id, at, id)');
    this.addSql(
      "create index deliveries_waiting on deliveries (tenant_id, webhook_id, sequence) where status = 'waiting'",
    );
    this.addSql('create index deliveries_of_object on deliveries (tenant_id, object_id) where response is not null');
    this.addSql('create index deliveries_by_age on deliveries (at)');
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    for (const table of ['webhooks', 'deliveries']) {
      this.addSql(`alter table ${table} enable row level security`);
      this.addSql(`create policy one_tenant on ${table} to parley_app using (tenant_id = ${tenant})`);
      this.addSql(`create policy every_tenant on ${table} to parley_worker using (true)`);
      this.addSql(`grant select, insert, update, delete on ${table} to parley_app, parley_worker`);
    }
    this.forgetResponses();
    this.lockObjects();
    this.addSql('insert into schema_state values (38, 11) on conflict do nothing');
  }

  /**
   * A response may repeat the words of the object that it confirms, so it goes in the transaction that deletes the
   * object or redacts the message.
   */
  private forgetResponses(): void {
    this.addSql(`
create function forget_responses() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update deliveries set response = null from gone
  where deliveries.tenant_id = gone.tenant_id and deliveries.object_id = gone.id and deliveries.response is not null;
  return null;
end $$`);
    this.addSql(`
create function forget_redacted_responses() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update deliveries set response = null
  where tenant_id = new.tenant_id and object_id = new.id and response is not null;
  return null;
end $$`);
    for (const name of ['forget_responses()', 'forget_redacted_responses()'])
      this.addSql(`revoke all on function ${name} from public`); // triggers run all the same
    for (const table of ['answers', 'conversations', 'messages', 'identities'])
      this.addSql(`
create trigger forget_responses after delete on ${table} referencing old table as gone
for each statement execute function forget_responses()`);
    this.addSql(`
create trigger forget_redacted_responses after update of redacted on messages
for each row when (new.redacted and not old.redacted) execute function forget_redacted_responses()`);
  }

  /**
   * Returns which of these objects still exist, and keeps them until the transaction ends. A worker stores a response
   * only then: a deletion either came first, or waits and removes the response.
   */
  private lockObjects(): void {
    this.addSql(`
create function lock_objects(tenant uuid, ids uuid[]) returns setof uuid
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  return query select answers.id from answers where tenant_id = tenant and id = any(ids) order by id for key share;
  return query select conversations.id from conversations where tenant_id = tenant and id = any(ids) order by id for key share;
  return query select messages.id from messages
    where tenant_id = tenant and id = any(ids) and not redacted order by id for share;
  return query select identities.id from identities where tenant_id = tenant and id = any(ids) order by id for key share;
end $$`);
    this.addSql('revoke all on function lock_objects(uuid, uuid[]) from public');
    this.addSql('grant execute on function lock_objects(uuid, uuid[]) to parley_worker');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
