import { type AcceptedAnswer, isAnswered } from '../../src/domain/answers/answers.ts';
import { deleteAnswer, listAnswers } from '../../src/storage/answers/answers.ts';
import { rebuildResults } from '../../src/storage/answers/results.ts';
import type { TestDatabase } from './database.ts';
import { anAcceptedAnswer, storeQuestions } from './make.ts';

/** A tenant with a question, and answers of one user to its card. */
export async function makeCountedCard(database: TestDatabase) {
  const app = database.storage();
  const { tenant_id, questions } = await storeQuestions(database, app, 1);
  const question_id = questions[0] as string;
  const tenant = app.forTenant(tenant_id);
  return {
    tenant,
    answer: (fields: Partial<AcceptedAnswer> = {}) =>
      anAcceptedAnswer({ tenant_id, question_id, once_per_card: true, ...fields }),
    remove: (id: string) => deleteAnswer(tenant, id, () => undefined),
    rows: async () => (await listAnswers(tenant, {}, 10_000, null)).rows,
    /** The ids of the counted answers with a value. */
    async counted() {
      const { rows } = await listAnswers(tenant, {}, 10_000, null);
      return rows.filter(row => row.counted && isAnswered(row.state)).map(({ id }) => id);
    },
    /** The sums in the table of results. */
    async results() {
      const [sum] = await database.query<Results>(
        `select coalesce(sum(seen), 0)::int as seen, coalesce(sum(dismissed), 0)::int as dismissed,
           coalesce(sum(partial), 0)::int as partial, coalesce(sum(completed), 0)::int as completed,
           coalesce(sum(written), 0)::int as written,
           (select coalesce(array_agg(sum order by place), '{}') from (
              select place, sum(score)::int from question_results, unnest(scores) with ordinality as s(score, place)
              where tenant_id = $1 group by place) as sums(place, sum)) as scores
         from question_results where tenant_id = $1`,
        [tenant_id],
      );
      return sum as Results;
    },
    rebuild: () => rebuildResults(app, tenant_id),
  };
}

export interface Results {
  seen: number;
  dismissed: number;
  partial: number;
  completed: number;
  written: number;
  scores: number[];
}

/** Counts with only the score 9. */
export const nines = (number: number): number[] => [0, 0, 0, 0, 0, 0, 0, 0, 0, number, 0];

export const partial = { state: 'partial', values: { main: 3 } } as const;
