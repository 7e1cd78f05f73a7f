import { z } from 'zod';
import { type CountedStep, Grouping, Results, resultsOf, stepResultsOf } from '../../domain/answers/results.ts';
import { addUpSteps, asDayCounts, countFollowUps } from '../../domain/answers/step-results.ts';
import { documentedAs } from '../../domain/documented.ts';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { queryBoolean, queryInt } from '../../domain/pages.ts';
import { queryFault } from '../../domain/problem.ts';
import { MAIN_STEP } from '../../domain/steps.ts';
import { Day, text } from '../../domain/text.ts';
import type { ResultsFilter } from '../../storage/answers/counted-columns.ts';
import { listDayCounts } from '../../storage/answers/results.ts';
import { listStepDayCounts } from '../../storage/answers/step-results.ts';
import type { TenantStorage } from '../../storage/database/orm.ts';
import { findQuestion, listPublishedSteps, type QuestionRow } from '../../storage/questions/questions.ts';
import { addTestCounts, listTestAnswers } from '../../storage/questions/test-answers.ts';
import { operation } from '../operation.ts';

const ResultsQuery = z.object({
  from: Day.optional().meta({
    description: 'First day (UTC) of the period; answers count on the day of their first receipt',
  }),
  to: Day.optional().meta({ description: 'Last day (UTC) of the period, inclusive' }),
  group_by: Grouping.default('day'),
  version: queryInt(1, 2_147_483_647).optional().meta({ description: 'Only answers to this version of the question' }),
  step: text(64, 1).default(MAIN_STEP).meta({
    description: 'Key of the step whose figures are returned; `displays` is then the number of answers that showed it',
  }),
  test: queryBoolean.default(false).meta({
    override: documentedAs({ type: 'boolean', default: false }),
    description: 'Only the answers given with test tokens in the last 24 hours, instead of all others',
  }),
  verified: queryBoolean
    .optional()
    .meta({ description: 'Only answers of verified (`true`) or claimed (`false`) identities' }),
});

/** Throws 422 for a period that ends before it starts. */
export function refuseReversedDays({ from, to }: { from?: string | undefined; to?: string | undefined }): void {
  if (from && to && from > to) throw queryFault('from', 'conflicting', 'Must not be after `to`.');
}

export const readResults = operation({
  id: 'readResults',
  method: 'get',
  path: '/v1/questions/{id}/results',
  tag: 'Questions',
  summary: 'Get the results of a question',
  description:
    'Results are updated in the transaction that stores an answer, so they are always consistent with the answers. `steps` has the drop-off from step to step, and `step` selects the step of all other figures. An answer counts with its highest revision, on the UTC day of its first receipt. Deleted and quarantined answers do not count.',
  credentials: ['api-key', 'session'],
  right: 'questions:read',
  params: z.object({ id: typeId('question') }),
  query: ResultsQuery,
  status: 200,
  response: Results,
  etag: true,
  heavy: true,
  async handle({ caller, params, query }, { storage }) {
    const { group_by, test, step, ...filter } = query;
    refuseReversedDays(filter);
    const tenant = storage.forTenant(caller.tenantId);
    const question = await findQuestion(tenant, params.id);
    const counted = await readCounts(tenant, question, filter, test);
    const content = counted.steps.find(({ key }) => key === step);
    if (!content) throw unknownStep(counted.steps);
    const rows =
      step === MAIN_STEP ? counted.main : counted.followUps.filter(row => row.step === step).map(asDayCounts);
    const { from = null, to = null, version = null, verified = null } = filter;
    return {
      question_id: toTypeId('question', question.id),
      type: content.type,
      ...{ from, to, group_by, version, verified, step, test },
      ...resultsOf(content, rows, group_by),
      steps: stepResultsOf(counted.steps),
    };
  },
});

const unknownStep = (steps: readonly CountedStep[]) =>
  queryFault(
    'step',
    'unknown-step',
    `Must be a step of the question: ${steps.map(({ key }) => `"${key}"`).join(', ')}.`,
  );

/** Reads the counts of a question by day, and the total of each of its steps, also of removed ones with answers. */
async function readCounts(tenant: TenantStorage, question: QuestionRow, filter: ResultsFilter, test: boolean) {
  if (test) {
    const answers = await listTestAnswers(tenant, question.id, filter);
    const followUps = countFollowUps(question, answers);
    const main = addTestCounts(answers);
    return { main, followUps, steps: addUpSteps(question, question.follow_ups, main, followUps) };
  }
  const [main, followUps, published] = await Promise.all([
    listDayCounts(tenant, question.id, filter),
    listStepDayCounts(tenant, question.id, filter),
    listPublishedSteps(tenant, tenant.tenantId, question.id),
  ]);
  const present = new Set(question.follow_ups.map(({ key }) => key));
  const counted = new Set(followUps.map(({ step }) => step));
  const removed = published.filter(({ key }) => !present.has(key) && counted.has(key));
  return { main, followUps, steps: addUpSteps(question, [...question.follow_ups, ...removed], main, followUps) };
}

/** Every operation on results. */
export const resultRoutes = [readResults];
