import { SCORE_PLACES } from '../../domain/answers/counts.ts';
import type { TenantStorage } from '../database/orm.ts';
import { createWhere, type Where } from '../database/sql.ts';
import type { ResultsFilter } from './counted-columns.ts';

/** The part of counts that all tables of results have. */
interface Sums {
  scores: number[];
  choices: Map<string, number>;
}

/** Counts as a row of the database has them. */
export type CountRow<C extends Sums> = Omit<C, 'choices'> & { choices: Record<string, number> };

/** Returns the counts of a row. */
export const fromCountRow = <C extends Sums>(row: CountRow<C>): C =>
  ({ ...row, choices: new Map(Object.entries(row.choices)) }) as unknown as C;

/** Returns counts as the parameters of `unnest`, which has no arrays of arrays: scores are a text. */
export const toCountRow = <C extends Sums>({ scores, choices, ...sum }: C) => ({
  ...sum,
  scores: `{${scores.join(',')}}`,
  choices: Object.fromEntries(choices),
});

/** Whether adding these counts changes a row. */
export const isChange = <Name extends string>(sum: Sums & Record<Name, number>, counters: readonly Name[]): boolean =>
  counters.some(name => sum[name] !== 0) ||
  sum.scores.some(number => number !== 0) ||
  [...sum.choices.values()].some(number => number !== 0);

/** Returns the assignments that add the counts of an insertion to the existing row of a table. */
export function additionsTo(table: string, counters: readonly string[]): string {
  const scores = Array.from(
    { length: SCORE_PLACES },
    (_, place) => `${table}.scores[${place + 1}] + excluded.scores[${place + 1}]`,
  );
  return [
    ...counters.map(name => `"${name}" = ${table}."${name}" + excluded."${name}"`),
    `scores = array[${scores.join(', ')}]`,
    `choices = case when excluded.choices = '{}' then ${table}.choices else add_choices(${table}.choices, excluded.choices) end`,
  ].join(', ');
}

/** Returns the condition for the rows of a question that a filter selects. */
export function whereCounts(tenant: TenantStorage, questionId: string, filter: ResultsFilter): Where {
  const where = createWhere();
  where.and('tenant_id = $ and question_id = $', tenant.tenantId, questionId);
  if (filter.from) where.and('day >= $::date', filter.from);
  if (filter.to) where.and('day <= $::date', filter.to);
  if (filter.version !== undefined) where.and('question_version = $', filter.version);
  if (filter.verified !== undefined) where.and('identity_verified = $', filter.verified);
  return where;
}
