import type { AcceptedAnswer } from '../../domain/answers/answers.ts';
import { type Counted, type Counts, count, noCounts } from '../../domain/answers/counts.ts';
import type { DayCounts } from '../../domain/answers/results.ts';
import { notFound } from '../../domain/problem.ts';
import type { AnswerRow } from '../answers/answers.ts';
import { COUNTED, type ResultsFilter } from '../answers/counted-columns.ts';
import type { Storage, TenantStorage } from '../database/orm.ts';
import { createWhere } from '../database/sql.ts';
import { LIVE_COLUMNS, type LiveQuestionRow } from './questions.ts';

/** How long answers to a preview exist. */
export const TEST_ANSWERS_KEPT_HOURS = 24;
const KEPT = `interval '${TEST_ANSWERS_KEPT_HOURS} hours'`;
/** Maximum number of answers to a preview in its results: the newest. */
const MAX_COUNTED = 5000;

/** A member who tries out a question. */
export interface Tester {
  questionId: string;
  memberId: string;
}

/** A stored answer to a preview. */
export interface TestAnswerRow
  extends Omit<AnswerRow, 'identity' | 'identity_verified' | 'tags' | 'counted' | 'stored_at'> {
  member_id: string;
}

const TESTED = `q.tenant_id = $1 and q.id = $2 and q.status <> 'archived'
  and exists (select from members where members.tenant_id = $1 and members.id = $3)`;

/** Returns a question in its present form, whether published or not; undefined once it or the member is gone. */
export const findTestedQuestion = async (
  tenant: TenantStorage,
  { questionId, memberId }: Tester,
): Promise<LiveQuestionRow | undefined> =>
  (
    await tenant.query<LiveQuestionRow>(`select ${LIVE_COLUMNS} from questions q where ${TESTED}`, [
      tenant.tenantId,
      questionId,
      memberId,
    ])
  )[0];

const WRITTEN = `revision, state, "values", comment, displayed_at, answered_at, duration_ms, metadata, clock_skew_ms`;

/** Stores an answer to a preview. As of other answers, a higher revision replaces a lower one until it is completed. */
export const storeTestAnswer = (
  tenant: TenantStorage,
  { questionId, memberId }: Tester,
  answer: AcceptedAnswer,
): Promise<unknown> =>
  tenant.query(
    `insert into test_answers (tenant_id, id, question_id, member_id, question_version, card_id, received_at, updated_at,
       ${WRITTEN})
     select $1, $4, $2, $3, $5, $6, $7, clock_timestamp(), $8, $9, $10::jsonb, $11, $12, $13, $14, $15::jsonb, $16
     from questions q where ${TESTED} for key share
     on conflict (tenant_id, id) do update set updated_at = excluded.updated_at,
       (${WRITTEN}) = (${WRITTEN.split(', ')
         .map(column => `excluded.${column}`)
         .join(', ')})
     where test_answers.question_id = excluded.question_id and test_answers.member_id = excluded.member_id
       and test_answers.revision < excluded.revision and test_answers.state <> 'completed'`,
    [
      ...[tenant.tenantId, questionId, memberId, answer.id, answer.question_version, answer.card_id],
      ...[answer.received_at, answer.revision, answer.state, JSON.stringify(answer.values), answer.comment],
      ...[answer.displayed_at, answer.answered_at, answer.duration_ms, JSON.stringify(answer.metadata)],
      answer.clock_skew_ms,
    ],
  );

/** Returns an answer to a preview, of any member or of one. */
export async function findTestAnswer(tenant: TenantStorage, id: string, memberId?: string): Promise<TestAnswerRow> {
  const where = createWhere();
  where.and(`tenant_id = $ and id = $ and received_at > now() - ${KEPT}`, tenant.tenantId, id);
  if (memberId) where.and('member_id = $', memberId);
  const [row] = await tenant.query<TestAnswerRow>(
    `select id, member_id, question_id, question_version, card_id, ${WRITTEN}, received_at, updated_at
     from test_answers ${where.sql}`,
    where.params,
  );
  if (!row) throw notFound('answer');
  return row;
}

/** Returns the newest answers to a preview. All of them count in its results. */
export async function listTestAnswers(
  tenant: TenantStorage,
  questionId: string,
  filter: ResultsFilter,
): Promise<Counted[]> {
  if (filter.verified === false) return [];
  const where = createWhere();
  where.and(`tenant_id = $ and question_id = $ and received_at > now() - ${KEPT}`, tenant.tenantId, questionId);
  if (filter.from) where.and("(received_at at time zone 'UTC')::date >= $::date", filter.from);
  if (filter.to) where.and("(received_at at time zone 'UTC')::date <= $::date", filter.to);
  if (filter.version !== undefined) where.and('question_version = $', filter.version);
  const rows = await tenant.query<{ counted: Counted }>(
    `select ${COUNTED} as counted from (
       select *, false as once_per_card, false as over_quota from test_answers ${where.sql} order by received_at desc limit ${MAX_COUNTED}
     ) as answers`,
    where.params,
  );
  return rows.map(({ counted }) => counted);
}

/** Returns the counts of answers to a preview by day and version. */
export function addTestCounts(answers: readonly Counted[]): DayCounts[] {
  const sums = new Map<string, DayCounts>();
  for (const counted of answers) {
    const { day, question_version } = counted;
    const key = `${day} ${question_version}`;
    const sum = sums.get(key) ?? { day, question_version, ...(noCounts() as Counts) };
    count(sum, counted, 1);
    sums.set(key, sum);
  }
  return [...sums.values()];
}

/** Deletes the answers to previews that are older than a day. */
export const deleteOldTestAnswers = (storage: Storage): Promise<unknown> =>
  storage.query(`select forget_test_answers(now() - ${KEPT})`);
