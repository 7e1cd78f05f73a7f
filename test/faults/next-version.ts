import { Migration } from '@mikro-orm/migrations';
import { z } from 'zod';
import { JOBS, RecordAnswers } from '../../src/queue/jobs.ts';
import { MIGRATIONS, NEEDED_SCHEMA } from '../../src/storage/migrations/index.ts';

/**
 * A preload (`node --import`) that turns a process into one of the next version: it supports jobs of versions 1 and 2,
 * and adds a migration.
 */
const NextRecordAnswers = z
  .object({ ...RecordAnswers.shape, v: z.union([z.literal(1), z.literal(2)]) })
  .transform(payload => ({ ...payload, v: 1 as const }));
Object.assign(JOBS, { 'answers.record': NextRecordAnswers });

/** The duration of the slow part, long enough to be killed in the middle. */
export const SLOW_SECONDS = 2;

/** A careful change of a large table by the next version: it adds to the table and limits the wait for the lock. */
class Next extends Migration {
  override up(): void {
    this.addSql("set local lock_timeout = '2s'");
    this.addSql('create table next_notes (tenant_id uuid not null, id uuid not null, primary key (tenant_id, id))');
    this.addSql(`select pg_sleep(${SLOW_SECONDS})`);
    this.addSql('alter table answers add column next_note text');
    this.addSql(`insert into schema_state values (${NEEDED_SCHEMA + 1}, 1)`);
  }
}
MIGRATIONS.push({ name: '29991231-next', class: Next as unknown as (typeof MIGRATIONS)[number]['class'] });
