import { Migration } from '@mikro-orm/migrations';

const TENANT = `nullif(current_setting('parley.tenant', true), '')::uuid`;

/**
 * The answer whose value a card record keeps, so that only its deletion or expiry removes the value, and the start of the
 * period in which one answer is counted (`every_days`). The columns are nullable, so the table is not rewritten.
 *
 * `card_value_backlog` has the tenants with older answers, whose values the worker adds. It contains no identity.
 */
export class LastValues extends Migration {
  override up(): void {
    this.addSql(`
alter table card_records
  add column last_answer_id uuid,
  add column counted_since timestamptz(3)`);
    this.addSql(`
create table card_value_backlog (
  tenant_id uuid primary key,
  before_at timestamptz(3) not null,
  before_id uuid not null
)`);
    this.addSql('alter table card_value_backlog enable row level security');
    this.addSql(`create policy one_tenant on card_value_backlog to parley_app using (tenant_id = ${TENANT})`);
    this.addSql('create policy every_tenant on card_value_backlog to parley_worker using (true)');
    this.addSql('grant select, insert, update, delete on card_value_backlog to parley_app, parley_worker');
    this.addSql(`
insert into card_value_backlog select id, 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff' from tenants
where exists (select from answers where tenant_id = tenants.id)`);
    this.expireValues();
    this.addSql('insert into schema_state values (35, 11) on conflict do nothing');
  }

  /** `expire_answers` of 20261206, which also removes the values of expired answers from card records. */
  private expireValues(): void {
    this.addSql(`
create or replace function expire_answers(tenant uuid, at_most int, now timestamptz) returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  cutoff timestamptz;
  ids uuid[];
  gone int;
  discarded int;
begin
  select least(clock_timestamp(), now) - make_interval(days => retention_answers_days) into cutoff
  from tenants where id = tenant;
  if cutoff is null then return 0; end if;
  if exists (select from answers where tenant_id = tenant and received_at < cutoff) then
    update tenants set results_fixed_before = (cutoff at time zone 'UTC')::date + 1
    where id = tenant and (results_fixed_before is null or results_fixed_before <= (cutoff at time zone 'UTC')::date);
  end if;
  select array_agg(id) into ids from (
    select id from answers where tenant_id = tenant and received_at < cutoff
    order by received_at, id limit at_most for update skip locked
  ) as oldest;
  with expired as materialized (
    select record.tenant_id, record.identity, record.identity_verified, record.question_id
    from answers join card_records as record using (tenant_id, identity, identity_verified, question_id)
    where answers.tenant_id = tenant and answers.id = any(ids) and record.last_answer_id = answers.id
      and record.last_value is not null
    order by 1, 2, 3, 4 for update of record
  )
  update card_records as record set last_value = null from expired
  where (record.tenant_id, record.identity, record.identity_verified, record.question_id)
    = (expired.tenant_id, expired.identity, expired.identity_verified, expired.question_id)
    and record.last_answer_id = any(ids);
  insert into deleted_answers (tenant_id, id, deleted_at, expired)
  select tenant, id, clock_timestamp(), true from unnest(ids) as id on conflict do nothing;
  delete from answers where tenant_id = tenant and id = any(ids);
  get diagnostics gone = row_count;
  delete from quarantined_answers where tenant_id = tenant and id in (
    select id from quarantined_answers where tenant_id = tenant and quarantined_at < cutoff
    order by quarantined_at, id limit at_most for update skip locked
  );
  get diagnostics discarded = row_count;
  return gone + discarded;
end $$`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
