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
  from: Day.optional().meta({
    description: 'First day (UTC) of the period; answers count on the day of their first receipt',
  }),
  to: Day.optional().meta({ description: 'Last day (UTC) of the period, inclusive' }),
  group_by: Grouping.default('day'),
  version: queryInt(1, 2_147_483_647).optional().meta({ description: 'Only answers to this version of the question' }),
  verified: queryBoolean
    .optional()
    .meta({ description: 'Only answers of verified (`true`) or claimed (`false`) identities' }),
});

export const readResults = operation({
  id: 'readResults',
  method: 'get',
  path: '/v1/questions/{id}/results',
  tag: 'Questions',
  summary: 'Get the results of a question',
  description:
    'Results are updated in the transaction that stores an answer, so they are always consistent with the answers. An answer counts with its highest revision, on the UTC day of its first receipt. Deleted and quarantined answers do not count.',
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
        errors: [{ parameter: 'from', code: 'conflicting', detail: 'Must not be after `to`.' }],
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
