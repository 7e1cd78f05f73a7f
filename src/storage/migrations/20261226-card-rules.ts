import { Migration } from '@mikro-orm/migrations';

/** The first schema whose builds follow audiences, schedules, triggers, samples and limits. */
export const CARD_RULES_SCHEMA = 29;

/**
 * Rules of questions: who is asked, when, how often and how many. New columns are nullable or have constant defaults,
 * so no table is rewritten.
 */
export class CardRules extends Migration {
  override up(): void {
    this.addSql(`
alter table questions
  add column audience jsonb,
  add column start_at timestamptz(3),
  add column end_at timestamptz(3),
  add column trigger jsonb,
  add column sampling_percent double precision not null default 100,
  add column response_limit jsonb`);
    this.addSql(`insert into schema_state values (${CARD_RULES_SCHEMA}, 11) on conflict do nothing`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
