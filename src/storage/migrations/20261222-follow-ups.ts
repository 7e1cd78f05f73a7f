import { Migration } from '@mikro-orm/migrations';

/** The first schema whose builds show follow-ups and accept their values. */
export const FOLLOW_UPS_SCHEMA = 26;

const TENANT = `nullif(current_setting('parley.tenant', true), '')::uuid`;

/**
 * Follow-up steps of questions, and their results in a table of their own, so that workers of the previous version keep
 * writing `question_results`. New columns have constant defaults, so no table is rewritten.
 */
export class FollowUps extends Migration {
  override up(): void {
    this.addSql("alter table questions add column follow_ups jsonb not null default '[]'");
    this.addSql("alter table question_versions add column follow_ups jsonb not null default '[]'");
    this.createResults();
    this.createTexts();
    this.addSql(`insert into schema_state values (${FOLLOW_UPS_SCHEMA}, 11) on conflict do nothing`);
  }

  /** The worker reads versions to find the steps that an answer shows. */
  private createResults(): void {
    this.addSql(`
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
) with (fillfactor = 70)`);
    this.addSql('alter table question_step_results enable row level security');
    this.addSql(`create policy one_tenant on question_step_results to parley_app using (tenant_id = ${TENANT})`);
    this.addSql('create policy every_tenant on question_step_results to parley_worker using (true)');
    this.addSql('grant select, insert, update, delete on question_step_results to parley_app, parley_worker');
    this.addSql('create policy every_tenant on question_versions for select to parley_worker using (true)');
    this.addSql('grant select on question_versions to parley_worker');
  }

  /**
   * `written_text` also returns the texts of follow-ups. Answers with one step take the shorter way.
   *
   * `counted_values` replaces texts by their presence, because replaced revisions need not keep them.
   */
  private createTexts(): void {
    this.addSql(`
create function written_texts(comment text, answered jsonb) returns text
language sql immutable parallel safe
as $$
  select nullif(coalesce(comment, '') || E'\\n' || coalesce((
    select string_agg(said, E'\\n' order by step <> 'main', step) from (
      select step, case jsonb_typeof(value) when 'string' then value #>> '{}' when 'object' then value->>'other_text' end as said
      from jsonb_each(answered) as each(step, value)
    ) as texts where said <> ''), ''), E'\\n')
$$`);
    this.addSql(`
create or replace function written_text(comment text, answered jsonb) returns text
language sql immutable parallel safe
as $$
  select case when answered - 'main' = '{}' then nullif(coalesce(comment, '') || E'\\n' || coalesce(
    case jsonb_typeof(answered->'main')
      when 'string' then answered->>'main'
      when 'object' then answered->'main'->>'other_text'
    end, ''), E'\\n') else written_texts(comment, answered) end
$$`);
    this.addSql(`
create function counted_values(answered jsonb) returns jsonb
language sql immutable parallel safe
as $$
  select coalesce(jsonb_object_agg(step, case jsonb_typeof(value)
    when 'string' then case when value = '""' then value else '"x"' end
    when 'object' then case when coalesce(value->>'other_text', '') = '' then value
      else jsonb_set(value, '{other_text}', '"x"') end
    else value end), '{}')
  from jsonb_each(answered) as each(step, value)
$$`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
