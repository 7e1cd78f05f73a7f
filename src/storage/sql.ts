import { type ElementType, toArray } from './arrays.ts';

/** Conditions of a `where`, each with its parameters numbered as they come. */
export interface Where {
  /** Adds `condition`, in which `$` stands for each of `values` in turn. */
  and(condition: string, ...values: unknown[]): void;
  /** The number of a further parameter, such as a limit. */
  param(value: unknown): string;
  readonly sql: string;
  readonly params: unknown[];
}

/** No conditions yet. Two that share `params` can be used in one statement. */
export function createWhere(params: unknown[] = []): Where {
  const conditions: string[] = [];
  const param = (value: unknown) => `$${params.push(value)}`;
  return {
    and(condition, ...values) {
      const queue = [...values];
      conditions.push(condition.replaceAll('$', () => param(queue.shift())));
    },
    param,
    get sql() {
      return conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
    },
    params,
  };
}

/**
 * Rows as one array parameter a column: the source of a batch insert, `(select unnest(…) as …, …) as incoming`.
 *
 * Named in the list of what is selected, the arrays are walked side by side; in a `from` each would first be copied whole.
 * Each column's values are such as its type takes them (`toArray`); what can't be of it is refused as PostgreSQL would.
 */
export function unnest<Row>(
  rows: readonly Row[],
  columns: { [K in keyof Row & string]?: ElementType },
  firstParam = 1,
) {
  const names = Object.keys(columns) as (keyof Row & string)[];
  const walked = names.map((name, index) => `unnest($${firstParam + index}::${columns[name]}[]) as "${name}"`);
  return {
    sql: `(select ${walked.join(', ')}) as incoming`,
    params: names.map(name =>
      toArray(
        rows.map(row => row[name]),
        columns[name] as ElementType,
      ),
    ),
  };
}

/** Text for a `like` pattern in which `%` and `_` mean themselves. */
export const likeContains = (text: string): string => `%${text.replaceAll(/[\\%_]/g, found => `\\${found}`)}%`;
