import { type Counted, type Counts, count, noCounts, SCORE_PLACES } from '../../domain/answers/counts.ts';
import { CANARY_TENANT_ID } from '../../domain/answers/ingestion.ts';
import type { DayCounts } from '../../domain/answers/results.ts';
import type { Storage, TenantStorage } from '../database/orm.ts';
import { unnest } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { additionsTo, type CountRow, fromCountRow, isChange, toCountRow, whereCounts } from './count-rows.ts';
import type { CountChange, CountedAnswer, ResultsFilter } from './counted-columns.ts';
import { correctStepsOfDay, countSteps, hasFollowUps } from './step-results.ts';

const COUNTERS = ['seen', 'dismissed', 'partial', 'completed', 'written'] as const;

const COLUMNS = {
  tenant_id: 'uuid',
  question_id: 'uuid',
  day: 'text',
  question_version: 'int',
  identity_verified: 'boolean',
  seen: 'int',
  dismissed: 'int',
  partial: 'int',
  completed: 'int',
  written: 'int',
  scores: 'text',
  choices: 'jsonb',
} as const;

const KEY = 'tenant_id, question_id, day, question_version, identity_verified';

const ADDED = additionsTo('question_results', COUNTERS);

/**
 * Adds or subtracts answers in the results of their questions and follow-ups: one row per question, day, version and kind
 * of identity, and per follow-up.
 *
 * Call it once per transaction, after changing `answers`: every transaction locks the answers first and then these rows
 * in key order, so that no deadlock occurs. Canaries are not counted.
 */
export async function countAnswers(tx: Transaction, changes: readonly CountChange[]): Promise<void> {
  await countSteps(tx, changes);
  const rows = [...addUp(changes).values()].filter(sum => isChange(sum, COUNTERS));
  if (rows.length === 0) return;
  const incoming = unnest<(typeof rows)[number]>(rows.map(toCountRow) as never, COLUMNS);
  await tx.query(
    `insert into question_results (${KEY}, ${COUNTERS.join(', ')}, scores, choices)
     select tenant_id, question_id, day::date, question_version, identity_verified, ${COUNTERS.join(', ')},
       scores::int[], choices
     from ${incoming.sql} order by 1, 2, 3, 4, 5
     on conflict (${KEY}) do update set ${ADDED}`,
    incoming.params,
  );
}

type Sum = Counts & Omit<CountedAnswer, keyof Counted> & Pick<Counted, 'day' | 'question_version'>;

function addUp(changes: readonly CountChange[]): Map<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const { answer, by } of changes) {
    const { tenant_id, question_id, day, question_version, identity_verified } = answer;
    if (tenant_id === CANARY_TENANT_ID) continue;
    const key = `${tenant_id}${question_id}${day} ${question_version} ${identity_verified}`;
    const sum = sums.get(key) ?? {
      ...{ tenant_id, question_id, day, question_version, identity_verified },
      ...noCounts(),
    };
    count(sum, answer, by);
    sums.set(key, sum);
  }
  return sums;
}

/** Returns the counts of one question by day and version. */
export async function listDayCounts(
  tenant: TenantStorage,
  questionId: string,
  filter: ResultsFilter,
): Promise<DayCounts[]> {
  const where = whereCounts(tenant, questionId, filter);
  const rows = await tenant.query<CountRow<DayCounts>>(
    `select day::text as day, question_version, ${COUNTERS.join(', ')}, scores, choices from question_results ${where.sql}`,
    where.params,
  );
  return rows.map(fromCountRow);
}

/** The total counts of a question, and its recent answers. */
export interface CountsSummary extends Counts {
  answered_7_days: number;
}

/**
 * Returns the counts of several questions in one statement. Questions without answers are absent, and choices are left
 * out.
 */
export async function summarizeCounts(
  tenant: TenantStorage,
  questionIds: readonly string[],
  now: Date,
): Promise<Map<string, CountsSummary>> {
  const sums = COUNTERS.map(name => `sum(${name})::float8 as ${name}`).join(', ');
  const scores = Array.from({ length: SCORE_PLACES }, (_, place) => `sum(scores[${place + 1}])::float8`).join(', ');
  const rows = await tenant.query<Omit<CountsSummary, 'choices'> & { question_id: string }>(
    `select question_id, ${sums}, array[${scores}] as scores,
       coalesce(sum(partial + completed) filter (where day > $3::date - 7), 0)::float8 as answered_7_days
     from question_results where tenant_id = $1 and question_id = any($2::uuid[]) group by question_id`,
    [tenant.tenantId, questionIds, now.toISOString().slice(0, 10)],
  );
  return new Map(rows.map(({ question_id, ...counts }) => [question_id, { ...counts, choices: new Map() }]));
}

/** Returns the ids of all tenants. */
export const listTenantIds = async (storage: Storage): Promise<string[]> =>
  (await storage.query<{ id: string }>('select tenant_ids() as id order by 1')).map(({ id }) => id);

/** Progress of a rebuild: of a tenant's questions, and of one question's days. */
export interface RebuildProgress {
  question_id: string;
  questions: { done: number; of: number };
  days: { done: number; of: number };
  /** The number of wrong rows so far. */
  corrected: number;
}

/** Time limit for counting one day of one question. It holds no lock that a writer waits for. */
const DAY_TIMEOUT_MS = 10 * 60_000;

/**
 * Corrects a tenant's results to match its answers. Returns the number of questions compared and of rows that were
 * wrong.
 *
 * Each question and day is a separate transaction. It can be interrupted and repeated: correct rows are not written.
 * Answers can be stored meanwhile without waiting.
 */
export async function rebuildResults(
  storage: Storage,
  tenantId: string,
  report: (progress: RebuildProgress) => void = () => undefined,
): Promise<{ questions: number; corrected: number }> {
  const tenant = storage.maintaining(DAY_TIMEOUT_MS).forTenant(tenantId);
  const questions = await tenant.query<{ id: string }>('select id from questions where tenant_id = $1 order by id', [
    tenantId,
  ]);
  let corrected = 0;
  for (const [index, { id }] of questions.entries()) {
    const days = await listDays(tenant, id);
    const withSteps = await hasFollowUps(tenant, id);
    for (const [dayIndex, day] of days.entries()) {
      corrected += await correctDay(tenant, id, day, withSteps);
      report({
        question_id: id,
        questions: { done: index, of: questions.length },
        days: { done: dayIndex + 1, of: days.length },
        corrected,
      });
    }
  }
  return { questions: questions.length, corrected };
}

/** Returns the days on which a question has answers or counts, with one index lookup per day. */
const listDays = async (tenant: TenantStorage, questionId: string): Promise<string[]> =>
  (
    await tenant.query<{ day: string }>(
      `with recursive days as (
         (select (received_at at time zone 'UTC')::date as day from answers
          where tenant_id = $1 and question_id = $2 order by received_at limit 1)
         union all
         select (select (received_at at time zone 'UTC')::date from answers
           where tenant_id = $1 and question_id = $2 and received_at >= (day + 1)::timestamp at time zone 'UTC'
           order by received_at limit 1)
         from days where day is not null
       )
       select day::text as day from days where day is not null
       union
       select day::text from question_results where tenant_id = $1 and question_id = $2
       order by 1`,
      [tenant.tenantId, questionId],
    )
  ).map(({ day }) => day);

const differences = COUNTERS.map(name => `coalesce(counted.${name}, 0) - coalesce(kept.${name}, 0) as ${name}`);
const scoreDifferences = Array.from(
  { length: SCORE_PLACES },
  (_, place) => `coalesce(counted.scores[${place + 1}], 0) - coalesce(kept.scores[${place + 1}], 0)`,
).join(', ');

/**
 * Adds the difference between a day's rows and a count of its answers.
 *
 * Both are read in one statement, so in one snapshot, and every writer changes answers and rows by the same amount in
 * one transaction. So the difference is the same in any snapshot, and adding it later is correct although others have
 * counted in between. Days with expired answers are not changed.
 */
const CORRECTION = `
with counted as materialized (
  select counts.* from (
    select $3::date as day where $3::date >= (
      select coalesce(results_fixed_before, '-infinity') from tenants where id = $1)
  ) as open_day, lateral count_results($1, $2, open_day.day, open_day.day + 1) as counts
), kept as materialized (
  select * from question_results where tenant_id = $1 and question_id = $2 and day = $3::date
    and $3::date >= (select coalesce(results_fixed_before, '-infinity') from tenants where id = $1)
), difference as (
  select question_version, identity_verified, ${differences.join(', ')}, array[${scoreDifferences}] as scores,
    (select coalesce(jsonb_object_agg(id, total) filter (where total <> 0), '{}') from (
       select id, sum(number)::int as total from (
         select key as id, value::int as number from jsonb_each_text(counted.choices)
         union all
         select key, -value::int from jsonb_each_text(kept.choices)
       ) as each_of group by id
     ) as totals) as choices
  from counted full join kept using (question_version, identity_verified)
)
insert into question_results (${KEY}, ${COUNTERS.join(', ')}, scores, choices)
select $1, $2, $3::date, question_version, identity_verified, ${COUNTERS.join(', ')}, scores, choices from difference
where ${COUNTERS.map(name => `${name} <> 0`).join(' or ')} or choices <> '{}' or 0 <> any(scores)
order by question_version, identity_verified
on conflict (${KEY}) do update set ${ADDED}
returning 1`;

/** Deletes empty rows. A row that is being incremented is checked again and kept. */
const REMOVE_EMPTY = `delete from question_results where tenant_id = $1 and question_id = $2 and day = $3::date
  and ${COUNTERS.map(name => `${name} = 0`).join(' and ')} and 0 = all(scores)
  and not exists (select from jsonb_each_text(choices) where value <> '0')`;

/** One rebuild at a time: two would add the same difference. */
const ONE_AT_A_TIME = "select pg_advisory_xact_lock(hashtextextended('results ' || $1, 0))";

const correctDay = (tenant: TenantStorage, questionId: string, day: string, withSteps: boolean): Promise<number> =>
  tenant.transaction(async tx => {
    await tx.query(ONE_AT_A_TIME, [tenant.tenantId]); // before the snapshot of the next statement
    const params = [tenant.tenantId, questionId, day];
    const steps = withSteps ? await correctStepsOfDay(tx, tenant.tenantId, questionId, day) : 0;
    const corrected = (await tx.query(CORRECTION, params)).length;
    if (corrected > 0) await tx.query(REMOVE_EMPTY, params);
    return steps + corrected;
  });
