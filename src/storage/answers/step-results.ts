import { LRUCache } from 'lru-cache';
import { isAnswered } from '../../domain/answers/answers.ts';
import type { Counted } from '../../domain/answers/counts.ts';
import { CANARY_TENANT_ID } from '../../domain/answers/ingestion.ts';
import {
  addStepCounts,
  countStep,
  noStepCounts,
  type StepCounts,
  shownFollowUps,
} from '../../domain/answers/step-counts.ts';
import type { StepDayCounts } from '../../domain/answers/step-results.ts';
import { stepBytes } from '../../domain/cards/rule-bytes.ts';
import { type AnswerRules, answerRules, type QuestionContent } from '../../domain/questions/questions.ts';
import type { TenantStorage } from '../database/orm.ts';
import { unnest } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { additionsTo, type CountRow, fromCountRow, isChange, toCountRow, whereCounts } from './count-rows.ts';
import { COUNTED, type CountChange, IS_COUNTED, type ResultsFilter } from './counted-columns.ts';

const COUNTERS = ['partial', 'completed', 'skipped', 'left', 'written'] as const;
const NAMES = COUNTERS.map(name => `"${name}"`).join(', ');
const KEY = 'tenant_id, question_id, step, day, question_version, identity_verified';

const COLUMNS = {
  tenant_id: 'uuid',
  question_id: 'uuid',
  step: 'text',
  day: 'text',
  question_version: 'int',
  identity_verified: 'boolean',
  partial: 'int',
  completed: 'int',
  skipped: 'int',
  left: 'int',
  written: 'int',
  scores: 'text',
  choices: 'jsonb',
} as const;

const ADDED = additionsTo('question_step_results', COUNTERS);

/** A version of a tenant's question. */
interface Version {
  tenant_id: string;
  question_id: string;
  question_version: number;
}

const versionKey = ({ tenant_id, question_id, question_version }: Version): string =>
  `${tenant_id}${question_id}${question_version}`;

/** Heap bytes of an entry of `known` without its rules. */
const ENTRY_BYTES = 300;

/**
 * For how long a version that the database does not have is not looked up again. Answers to such versions are stored
 * after the database was restored from a backup, or while their tenant is deleted.
 */
const ABSENT_MS = 10_000;

/** The rules of versions with follow-ups, and `null` for others. Versions never change. */
const known = new LRUCache<string, { rules: AnswerRules | null }>({
  maxSize: 4 * 1024 * 1024,
  sizeCalculation: ({ rules }) => ENTRY_BYTES + stepBytes(rules ?? []),
});

/** Returns the rules of those versions that have follow-ups. */
async function findStepRules(tx: Transaction, versions: readonly Version[]): Promise<Map<string, AnswerRules>> {
  const found = new Map<string, AnswerRules>();
  const missing = new Map<string, Version>();
  for (const version of versions) {
    const key = versionKey(version);
    const entry = known.get(key);
    if (entry?.rules) found.set(key, entry.rules);
    if (!entry) missing.set(key, version);
  }
  if (missing.size === 0) return found;
  const wanted = unnest<Version>([...missing.values()], {
    tenant_id: 'uuid',
    question_id: 'uuid',
    question_version: 'int',
  });
  type Row = Version & Pick<QuestionContent, 'type' | 'config' | 'follow_ups'>;
  const rows = await tx.query<Row>(
    `select incoming.*, type, config, follow_ups from ${wanted.sql} join question_versions as v
       on v.tenant_id = incoming.tenant_id and v.question_id = incoming.question_id
       and v.version = incoming.question_version`,
    wanted.params,
  );
  for (const row of rows) {
    const key = versionKey(row);
    const rules = row.follow_ups.length > 0 ? answerRules(row) : null;
    known.set(key, { rules });
    missing.delete(key);
    if (rules) found.set(key, rules);
  }
  for (const key of missing.keys()) known.set(key, { rules: null }, { ttl: ABSENT_MS });
  return found;
}

/** The counts of one row. */
interface StepSum extends StepCounts, Version {
  step: string;
  day: string;
  identity_verified: boolean;
}

type Sums = Map<string, StepSum>;

/** An answer whose steps are counted. */
interface StepAnswer extends Pick<Counted, 'day' | 'state' | 'values'>, Version {
  identity_verified: boolean;
}

function sumOf(sums: Sums, row: Pick<StepSum, 'day' | 'identity_verified'> & Version, step: string): StepSum {
  const { tenant_id, question_id, day, question_version, identity_verified } = row;
  const key = `${tenant_id}${question_id}${day} ${question_version} ${identity_verified} ${step}`;
  const sum = sums.get(key) ?? {
    ...{ tenant_id, question_id, step, day, question_version, identity_verified },
    ...noStepCounts(),
  };
  sums.set(key, sum);
  return sum;
}

function addAnswer(sums: Sums, rules: AnswerRules, answer: StepAnswer, by: 1 | -1): void {
  for (const shown of shownFollowUps(rules, answer)) countStep(sumOf(sums, answer, shown.key), shown, answer.state, by);
}

/** Adds sums to the rows, in key order, so that concurrent transactions do not deadlock. Returns the number of rows. */
async function addSums(tx: Transaction, sums: Sums): Promise<number> {
  const rows = [...sums.values()].filter(sum => isChange(sum, COUNTERS)).map(toCountRow);
  if (rows.length === 0) return 0;
  const incoming = unnest<(typeof rows)[number]>(rows as never, COLUMNS);
  await tx.query(
    `insert into question_step_results (${KEY}, ${NAMES}, scores, choices)
     select tenant_id, question_id, step, day::date, question_version, identity_verified, ${NAMES}, scores::int[], choices
     from ${incoming.sql} order by 1, 2, 3, 4, 5, 6
     on conflict (${KEY}) do update set ${ADDED}`,
    incoming.params,
  );
  return rows.length;
}

/**
 * Adds or subtracts answers in the results of follow-ups. The versions' rules are kept in memory, so that questions
 * without follow-ups cost no query.
 */
export async function countSteps(tx: Transaction, changes: readonly CountChange[]): Promise<void> {
  const answered = changes.filter(({ answer }) => isAnswered(answer.state) && answer.tenant_id !== CANARY_TENANT_ID);
  if (answered.length === 0) return;
  const rules = await findStepRules(
    tx,
    answered.map(({ answer }) => answer),
  );
  if (rules.size === 0) return;
  const sums: Sums = new Map();
  for (const { answer, by } of answered) {
    const steps = rules.get(versionKey(answer));
    if (steps) addAnswer(sums, steps, answer, by);
  }
  await addSums(tx, sums);
}

/** Returns the counts of all follow-ups of a question by day and version. */
export async function listStepDayCounts(
  tenant: TenantStorage,
  questionId: string,
  filter: ResultsFilter,
): Promise<StepDayCounts[]> {
  const where = whereCounts(tenant, questionId, filter);
  const rows = await tenant.query<CountRow<StepDayCounts>>(
    `select step, day::text as day, question_version, ${NAMES}, scores, choices from question_step_results ${where.sql}`,
    where.params,
  );
  return rows.map(fromCountRow);
}

/** Whether a version of the question has, or had, follow-ups. */
export const hasFollowUps = async (tenant: TenantStorage, questionId: string): Promise<boolean> =>
  (
    await tenant.query(
      `select from question_versions where tenant_id = $1 and question_id = $2 and follow_ups <> '[]' limit 1`,
      [tenant.tenantId, questionId],
    )
  ).length > 0;

/** Answers read at a time. */
const READ_AT_ONCE = 1000;

/** One row of the snapshot: an answer to count, or a row of counts to subtract. */
type SnapshotRow =
  | { counted: Counted; identity_verified: boolean; kept: null }
  | { counted: null; kept: CountRow<StepSum> };

/**
 * Adds the difference between a day's rows and a count of its answers, and returns the number of wrong rows.
 *
 * The cursor reads both in one snapshot, so the difference is the same in any snapshot (see `CORRECTION`). Days with
 * expired answers are not changed.
 */
export async function correctStepsOfDay(
  tx: Transaction,
  tenantId: string,
  questionId: string,
  day: string,
): Promise<number> {
  await tx.query(
    `declare recount no scroll cursor for
     select ${COUNTED} as counted, answers.identity_verified, null::jsonb as kept from answers
     where answers.tenant_id = $1 and answers.question_id = $2 and answers.state in ('partial', 'completed')
       and received_at >= $3::date::timestamp at time zone 'UTC'
       and received_at < ($3::date + 1)::timestamp at time zone 'UTC' and ${IS_OPEN} and ${IS_COUNTED}
     union all
     select null, null, to_jsonb(kept) from question_step_results as kept
     where tenant_id = $1 and question_id = $2 and day = $3::date and ${IS_OPEN}`,
    [tenantId, questionId, day],
  );
  const sums: Sums = new Map();
  for (;;) {
    const rows = await tx.query<SnapshotRow>(`fetch ${READ_AT_ONCE} from recount`);
    await addRows(tx, sums, rows, { tenant_id: tenantId, question_id: questionId });
    if (rows.length < READ_AT_ONCE) break;
  }
  await tx.query('close recount');
  const corrected = await addSums(tx, sums);
  if (corrected > 0) await tx.query(REMOVE_EMPTY, [tenantId, questionId, day]);
  return corrected;
}

const IS_OPEN = `$3::date >= (select coalesce(results_fixed_before, '-infinity') from tenants where id = $1)`;

async function addRows(
  tx: Transaction,
  sums: Sums,
  rows: readonly SnapshotRow[],
  question: Omit<Version, 'question_version'>,
): Promise<void> {
  const answers = rows.flatMap(row =>
    row.counted ? [{ ...row.counted, ...question, identity_verified: row.identity_verified }] : [],
  );
  const rules = await findStepRules(tx, answers);
  for (const answer of answers) {
    const steps = rules.get(versionKey(answer));
    if (steps) addAnswer(sums, steps, answer, 1);
  }
  for (const { kept } of rows) if (kept) addStepCounts(sumOf(sums, kept, kept.step), fromCountRow<StepSum>(kept), -1);
}

/** Deletes empty rows. A row that is being incremented is checked again and kept. */
const REMOVE_EMPTY = `delete from question_step_results where tenant_id = $1 and question_id = $2 and day = $3::date
  and ${COUNTERS.map(name => `"${name}" = 0`).join(' and ')} and 0 = all(scores)
  and not exists (select from jsonb_each_text(choices) where value <> '0')`;
