import { type Counted, type Counts, count, noCounts, SCORE_PLACES } from '../domain/counts.ts';
import { CANARY_TENANT_ID } from '../domain/ingestion.ts';
import type { DayCounts } from '../domain/results.ts';
import type { Storage, TenantStorage } from './orm.ts';
import { createWhere, unnest } from './sql.ts';
import type { Session } from './transaction.ts';

/** How one answer counts, and for which question. */
export interface CountedAnswer extends Counted {
  tenant_id: string;
  question_id: string;
  identity_verified: boolean;
}

/** An answer that counts from now on, or no longer does. */
export interface CountChange {
  answer: CountedAnswer;
  by: 1 | -1;
}

/** `Counted` of a row of `answers`, as JSON, and whether the row competes with others for its card. */
export const COUNTED = `jsonb_build_object(
  'day', (answers.received_at at time zone 'UTC')::date,
  'question_version', answers.question_version,
  'state', answers.state,
  'value', case when jsonb_typeof(answers."values"->'main') <> 'string' then answers."values"->'main' end,
  'written', written_text(answers.comment, answers."values") is not null,
  'once_per_card', answers.once_per_card)`;

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

const ADDED = [
  ...COUNTERS.map(name => `${name} = question_results.${name} + excluded.${name}`),
  `scores = array[${Array.from({ length: SCORE_PLACES }, (_, place) => `question_results.scores[${place + 1}] + excluded.scores[${place + 1}]`).join(', ')}]`,
  "choices = case when excluded.choices = '{}' then question_results.choices else add_choices(question_results.choices, excluded.choices) end",
];

/**
 * Counts answers in or out of the results of their questions: one row a question, day, version and kind of identity.
 *
 * To be called once in a transaction that changes `answers`, after that: every transaction locks the answers first and
 * then these rows in the order of their key, so that none waits in a circle. Canaries are nobody's answers.
 */
export async function countAnswers(session: Session, changes: readonly CountChange[]): Promise<void> {
  const rows = [...addUp(changes).values()].filter(isChange);
  if (rows.length === 0) return;
  const incoming = unnest<(typeof rows)[number]>(rows.map(toRow) as never, COLUMNS);
  await session.query(
    `insert into question_results (${KEY}, ${COUNTERS.join(', ')}, scores, choices)
     select tenant_id, question_id, day::date, question_version, identity_verified, ${COUNTERS.join(', ')},
       scores::int[], choices
     from ${incoming.sql} order by 1, 2, 3, 4, 5
     on conflict (${KEY}) do update set ${ADDED.join(', ')}`,
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

const isChange = (sum: Counts): boolean =>
  COUNTERS.some(name => sum[name] !== 0) ||
  sum.scores.some(number => number !== 0) ||
  [...sum.choices.values()].some(number => number !== 0);

const toRow = ({ scores, choices, ...sum }: Sum) => ({
  ...sum,
  scores: `{${scores.join(',')}}`,
  choices: Object.fromEntries(choices),
});

/** Which of a question's counts are meant. Days are of UTC, both inclusive. */
export interface ResultsFilter {
  from?: string | undefined;
  to?: string | undefined;
  version?: number | undefined;
  verified?: boolean | undefined;
}

/** What was counted of one question, by day and version. */
export async function listDayCounts(
  tenant: TenantStorage,
  questionId: string,
  filter: ResultsFilter,
): Promise<DayCounts[]> {
  const where = createWhere();
  where.and('tenant_id = $ and question_id = $', tenant.tenantId, questionId);
  if (filter.from) where.and('day >= $::date', filter.from);
  if (filter.to) where.and('day <= $::date', filter.to);
  if (filter.version !== undefined) where.and('question_version = $', filter.version);
  if (filter.verified !== undefined) where.and('identity_verified = $', filter.verified);
  const rows = await tenant.query<Omit<DayCounts, 'choices'> & { choices: Record<string, number> }>(
    `select day::text as day, question_version, ${COUNTERS.join(', ')}, scores, choices from question_results ${where.sql}`,
    where.params,
  );
  return rows.map(row => ({ ...row, choices: new Map(Object.entries(row.choices)) }));
}

/** What was counted of a question since it exists, and how many answered it of late. */
export interface CountsSummary extends Counts {
  answered_7_days: number;
}

/** The counts of several questions, in one statement; a question without answers has none. Choices are left out. */
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

/** The tenants of the installation, for what is done to all of them. */
export const listTenantIds = async (storage: Storage): Promise<string[]> =>
  (await storage.query<{ id: string }>('select tenant_ids() as id order by 1')).map(({ id }) => id);

/**
 * Counts a tenant's results anew from its answers; gives how many questions have been counted.
 *
 * Right while answers arrive: a month of one question at a time, under a lock that lets nobody count. Whoever has
 * counted before has also committed the answers, which are therefore seen; whoever counts after is not seen yet.
 */
export async function rebuildResults(tenant: TenantStorage): Promise<number> {
  const questions = await tenant.query<{ id: string }>('select id from questions where tenant_id = $1 order by id', [
    tenant.tenantId,
  ]);
  for (const { id } of questions)
    for (const month of await listMonths(tenant, id)) await rebuildMonth(tenant, id, month);
  return questions.length;
}

/** The first days of the months in which a question has answers, or has any counted. */
const listMonths = async (tenant: TenantStorage, questionId: string): Promise<string[]> =>
  (
    await tenant.query<{ month: string }>(
      `select month::date::text as month from (
         select min(day) as first, max(day) as last from (
           (select (received_at at time zone 'UTC')::date as day from answers
            where tenant_id = $1 and question_id = $2 order by received_at limit 1)
           union all
           (select (received_at at time zone 'UTC')::date from answers
            where tenant_id = $1 and question_id = $2 order by received_at desc limit 1)
           union all select day from question_results where tenant_id = $1 and question_id = $2
         ) as days
       ) as bounds, generate_series(date_trunc('month', first), last, interval '1 month') as month`,
      [tenant.tenantId, questionId],
    )
  ).map(({ month }) => month);

/** Days of which answers have expired stay as they were counted: nothing is left to count them by. */
const rebuildMonth = (tenant: TenantStorage, questionId: string, month: string): Promise<void> =>
  tenant.transaction(async session => {
    const [first] = await session.query<{ day: string }>(
      'select greatest($2::date, results_fixed_before)::text as day from tenants where id = $1 for share',
      [tenant.tenantId, month],
    );
    const params = [tenant.tenantId, questionId, first?.day ?? month, month];
    await session.query('lock table question_results in share row exclusive mode');
    await session.query(
      `delete from question_results where tenant_id = $1 and question_id = $2
       and day >= $3::date and day < $4::date + interval '1 month'`,
      params,
    );
    await session.query(
      `insert into question_results
       select * from count_results($1, $2, $3::date, ($4::date + interval '1 month')::date)`,
      params,
    );
  });
