import { z } from 'zod';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { queryBoolean, queryInt } from '../../domain/pages.ts';
import { Problem } from '../../domain/problem.ts';
import { Grouping, Results, resultsOf } from '../../domain/results.ts';
import { Day } from '../../domain/text.ts';
import { findQuestion } from '../../storage/questions.ts';
import { listDayCounts } from '../../storage/results.ts';
import { operation } from '../operation.ts';

const ResultsQuery = z.object({
  from: Day.optional().meta({ description: 'The first day (UTC) on which an answer was received for the first time' }),
  to: Day.optional().meta({ description: 'The last such day, inclusive' }),
  group_by: Grouping.default('day'),
  version: queryInt(1, 2_147_483_647).optional().meta({ description: 'Answers to this version of the question alone' }),
  verified: queryBoolean.optional().meta({ description: 'Answers of verified, or of claimed, identities alone' }),
});

const readResults = operation({
  id: 'readResults',
  method: 'get',
  path: '/v1/questions/{id}/results',
  tag: 'Questions',
  summary: "Say what a question's answers come to",
  description:
    'Counted by the worker in the transaction that stores an answer, so as true as the answers themselves. An answer counts as its highest revision says, on the UTC day of its first receipt; deleted ones and those in the quarantine do not count.',
  credentials: ['api-key', 'session'],
  right: 'questions:read',
  params: z.object({ id: typeId('question') }),
  query: ResultsQuery,
  status: 200,
  response: Results,
  etag: true,
  heavy: true,
  async handle({ caller, params, query }, { storage }) {
    const { group_by, ...filter } = query;
    if (filter.from && filter.to && filter.from > filter.to)
      throw new Problem('validation-failed', 'The query does not match the schema.', {
        errors: [{ pointer: '/from', code: 'invalid', detail: 'must not be after `to`' }],
      });
    const tenant = storage.forTenant(caller.tenantId);
    const question = await findQuestion(tenant, params.id);
    const { from = null, to = null, version = null, verified = null } = filter;
    return {
      question_id: toTypeId('question', question.id),
      type: question.type,
      ...{ from, to, group_by, version, verified },
      ...resultsOf(question, await listDayCounts(tenant, question.id, filter), group_by),
    };
  },
});

/** Every operation on results. */
export const resultRoutes = [readResults];
