import type { AcceptedAnswer } from '../../domain/answers/answers.ts';
import { boundsOf, periodOf } from '../../domain/answers/periods.ts';
import type { ResponseLimit } from '../../domain/rules/card-rules.ts';
import { unnest } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { keyOf } from './answer-upserts.ts';
import { type CountedPlace, cardKeyOf } from './card-records.ts';
import type { StoredRow, StoredSync } from './counted-answers.ts';

/** The limit of a question, with the time zone of its tenant. */
export interface QuestionLimit {
  tenant_id: string;
  question_id: string;
  max: number;
  per: ResponseLimit['per'];
  timezone: string;
}

/** Limits by `questionKeyOf`. */
export type Limits = ReadonlyMap<string, QuestionLimit>;

interface QuestionKey {
  tenant_id: string;
  question_id: string;
}

export const questionKeyOf = ({ tenant_id, question_id }: QuestionKey): string => tenant_id + question_id;

/** Returns the distinct questions of completed answers, which may have a limit. */
export function completedQuestions(answers: readonly AcceptedAnswer[]): QuestionKey[] {
  const questions = new Map<string, QuestionKey>();
  for (const { state, tenant_id, question_id } of answers)
    if (state === 'completed') questions.set(tenant_id + question_id, { tenant_id, question_id });
  return [...questions.values()];
}

/** How many periods a question keeps. Answers to older ones are counted again (`countStored`). */
const MAX_PERIODS = 40;

/** A question whose places are locked. */
interface Quota extends QuestionLimit {
  /** Places taken by the first date of each period. */
  taken: Record<string, number>;
  /** Periods that are full. */
  full: Set<string>;
}

/**
 * Counts completed answers toward the limits of their questions, in order of arrival, and returns those beyond a limit,
 * by `keyOf`. The questions' rows in `response_quotas` are locked in key order until the commit.
 *
 * The transaction that fills a total closes the question. Only answers that are counted in the results use a place: of
 * several to one card one does (`places`). A deletion frees no place.
 */
export async function applyLimits(
  tx: Transaction,
  limits: Limits,
  syncs: readonly StoredSync[],
  places: ReadonlyMap<string, CountedPlace>,
  removed: readonly StoredRow[],
): Promise<ReadonlySet<string>> {
  const over = new Set<string>();
  if (limits.size === 0) return over;
  const gone = new Set(removed.map(keyOf));
  const completed = syncs
    .map(({ answer }) => answer)
    .filter(answer => answer.state === 'completed' && limits.has(questionKeyOf(answer)) && !gone.has(keyOf(answer)))
    .filter(answer => !answer.once_per_card || places.get(cardKeyOf(answer))?.after === answer.id);
  if (completed.length === 0) return over;
  const quotas = await lockQuotas(tx, limits, completed);
  const ids = completed.map(({ id }) => id);
  for (const answer of completed) {
    const quota = quotas.get(questionKeyOf(answer)) as Quota;
    const period = periodOf(quota.per, new Date(answer.received_at), quota.timezone);
    const name = `${quota.per} ${period}`;
    const taken = quota.taken[name] ?? (await countStored(tx, quota, period, ids));
    const isOver = taken >= quota.max;
    if (isOver) over.add(keyOf(answer));
    quota.taken[name] = isOver ? taken : taken + 1;
    if (quota.taken[name] >= quota.max) quota.full.add(period);
  }
  await Promise.all([markOver(tx, completed, over), saveQuotas(tx, [...quotas.values()])]);
  return over;
}

/** Locks the questions of these answers in key order. */
async function lockQuotas(
  tx: Transaction,
  limits: Limits,
  answers: readonly AcceptedAnswer[],
): Promise<Map<string, Quota>> {
  const wanted = unnest<QuestionKey>(completedQuestions(answers), { tenant_id: 'uuid', question_id: 'uuid' });
  const rows = await tx.query<QuestionKey & Pick<Quota, 'taken'>>(
    `insert into response_quotas as quota (tenant_id, question_id)
     select tenant_id, question_id from ${wanted.sql} order by 1, 2
     on conflict (tenant_id, question_id) do update set taken = quota.taken
     returning tenant_id, question_id, taken`,
    wanted.params,
  );
  return new Map(
    rows.map(row => [
      questionKeyOf(row),
      { ...(limits.get(questionKeyOf(row)) as QuestionLimit), taken: row.taken, full: new Set<string>() },
    ]),
  );
}

/**
 * Forgets the places of a question that has no limit, so that the next one counts all answers: those without a limit take
 * no places.
 */
export const forgetPlaces = (tx: Transaction, { tenant_id, question_id }: QuestionKey): Promise<unknown> =>
  tx.query('delete from response_quotas where tenant_id = $1 and question_id = $2', [tenant_id, question_id]);

/**
 * Counts the places that stored answers take in a period of which no number is kept: the first one since the limit was set.
 *
 * The answers `ids` of this transaction are not included. Of a period, at most `max` answers are read; a total is the sum of
 * the results, which also has expired answers.
 */
async function countStored(tx: Transaction, quota: Quota, period: string, ids: readonly string[]): Promise<number> {
  const { tenant_id, question_id, per, timezone, max } = quota;
  if (per === 'total') {
    const [row] = await tx.query<{ count: number }>(
      `select coalesce(sum(completed), 0)::int as count from question_results where tenant_id = $1 and question_id = $2`,
      [tenant_id, question_id],
    );
    return row?.count ?? 0;
  }
  const { begins, ends } = boundsOf(per, period, timezone);
  const [row] = await tx.query<{ count: number }>(
    `select count(*)::int as count from (
       select from answers left join card_records as record on answers.once_per_card
         and record.tenant_id = $1 and record.question_id = $2 and record.identity = answers.identity
         and record.identity_verified = answers.identity_verified
       where answers.tenant_id = $1 and answers.question_id = $2 and state = 'completed' and not over_quota
         and (not answers.once_per_card or record.counted_answer_id = answers.id)
         and received_at >= $3 and received_at < $4 and answers.id <> all($5::uuid[])
       limit $6
     ) as stored`,
    [tenant_id, question_id, begins, ends, ids, max],
  );
  return row?.count ?? 0;
}

/** Marks the answers beyond a limit. */
async function markOver(tx: Transaction, completed: AcceptedAnswer[], over: ReadonlySet<string>): Promise<void> {
  if (over.size === 0) return;
  const wanted = unnest<AcceptedAnswer>(
    completed.filter(answer => over.has(keyOf(answer))),
    { tenant_id: 'uuid', id: 'uuid' },
  );
  await tx.query(
    `update answers set over_quota = true from ${wanted.sql}
     where answers.tenant_id = incoming.tenant_id and answers.id = incoming.id`,
    wanted.params,
  );
}

/** Saves the places taken, and closes the questions whose total is full. */
async function saveQuotas(tx: Transaction, quotas: Quota[]): Promise<void> {
  const rows = quotas.map(quota => ({ ...quota, taken: latest(quota) }));
  const columns = { tenant_id: 'uuid', question_id: 'uuid', taken: 'jsonb' } as const;
  const saved = unnest<(typeof rows)[number]>(rows, columns);
  await tx.query(
    `update response_quotas as quota set taken = incoming.taken from ${saved.sql}
     where quota.tenant_id = incoming.tenant_id and quota.question_id = incoming.question_id`,
    saved.params,
  );
  for (const { tenant_id, question_id, per, full, timezone } of quotas) {
    const last = [...full].sort().at(-1);
    if (last === undefined) continue;
    const [date, offset] = per === 'total' ? [null, null] : [last, boundsOf(per, last, timezone).offset];
    await tx.query('select note_full_limit($1, $2, $3, $4, $5)', [tenant_id, question_id, per, date, offset]);
  }
}

/** The newest periods of the present kind. */
const latest = ({ per, taken }: Quota): Record<string, number> =>
  Object.fromEntries(
    Object.entries(taken)
      .filter(([name]) => name.startsWith(per))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(-MAX_PERIODS),
  );
