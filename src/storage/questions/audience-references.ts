import { parseTypeId } from '../../domain/ids.ts';
import { Problem, type ProblemError } from '../../domain/problem.ts';
import { faultsOfComparison } from '../../domain/questions/question-checks.ts';
import { answerRules, type QuestionContent } from '../../domain/questions/questions.ts';
import { type Audience, leavesOf } from '../../domain/rules/audiences.ts';
import { jsonPointer } from '../../domain/validation.ts';
import type { Transaction } from '../database/transaction.ts';

type ReferencedQuestion = Pick<QuestionContent, 'type' | 'config' | 'follow_ups'> & { id: string };

/**
 * Throws 422 if an audience refers to answers of a question that the tenant does not have, or compares them with values
 * that the question cannot have.
 */
export async function requireKnownQuestions(
  queries: Pick<Transaction, 'query'>,
  tenantId: string,
  audience: Audience | null | undefined,
): Promise<void> {
  const conditions = (audience ? leavesOf(audience) : []).flatMap(({ leaf: { answered }, path }) =>
    answered ? [{ answered, pointer: `/audience${jsonPointer([...path, 'answered'])}` }] : [],
  );
  if (conditions.length === 0) return;
  const uuidOf = (text: string): string => parseTypeId('question', text) as string; // its schema has checked it
  const rows = await queries.query<ReferencedQuestion>(
    'select id, type, config, follow_ups from questions where tenant_id = $1 and id = any($2::uuid[])',
    [tenantId, conditions.map(({ answered }) => uuidOf(answered.question))],
  );
  const known = new Map(rows.map(row => [row.id, answerRules(row)[0]]));
  const errors = conditions.flatMap(({ answered, pointer }): ProblemError[] => {
    const main = known.get(uuidOf(answered.question));
    if (main) return faultsOfComparison(main, answered, pointer);
    const detail = 'Must be the id of a question of this tenant.';
    return [{ pointer: `${pointer}/question`, code: 'unknown-reference', detail }];
  });
  if (errors.length > 0)
    throw new Problem('validation-failed', 'The audience does not fit the questions it refers to.', { errors });
}
