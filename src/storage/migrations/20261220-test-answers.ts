import { Migration } from '@mikro-orm/migrations';

/**
 * Answers to the preview of a question. They are in a table of their own, so that no list, result or retention of
 * answers has to exclude them, and the previous version never sees them.
 */
export class TestAnswers extends Migration {
  override up(): void {
    this.addSql(`
create table test_answers (
  tenant_id uuid not null,
  id uuid not null,
  question_id uuid not null,
  question_version int not null,
  member_id uuid not null,
  card_id uuid not null,
  revision int not null,
  state text not null,
  "values" jsonb not null,
  comment text,
  displayed_at timestamptz(3),
  answered_at timestamptz(3),
  duration_ms int,
  metadata jsonb not null,
  clock_skew_ms bigint,
  received_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (tenant_id, id)
)`);
    this.addSql('create index test_answers_of_question on test_answers (tenant_id, question_id, received_at)');
    this.addSql('create index test_answers_oldest on test_answers (received_at)');
    this.addSql('alter table test_answers enable row level security');
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    this.addSql(`create policy one_tenant on test_answers to parley_app using (tenant_id = ${tenant})`);
    this.addSql('grant select, insert, update, delete on test_answers to parley_app');
    this.addSql(`
create function forget_test_answers(before timestamptz) returns bigint
language sql security definer set search_path = public, pg_temp as $$
  with gone as (delete from test_answers where received_at < before returning 1) select count(*) from gone
$$`);
    this.addSql('revoke all on function forget_test_answers(timestamptz) from public');
    this.addSql('grant execute on function forget_test_answers(timestamptz) to parley_app');
    this.addSql('insert into schema_state values (25, 11) on conflict do nothing');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
