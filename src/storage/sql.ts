import { type ElementType, toArray } from './arrays.ts';

/** Conditions of a `where` clause with numbered parameters. */
export interface Where {
  /** Adds `condition`, in which each `$` is replaced by the parameter of the next of `values`. */
  and(condition: string, ...values: unknown[]): void;
  /** Adds a parameter, such as a limit, and returns its placeholder. */
  param(value: unknown): string;
  readonly sql: string;
  readonly params: unknown[];
}

/** Creates an empty `Where`. Two that share `params` can be used in one statement. */
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
 * Passes rows as one array parameter per column: the source of a batch insert, `(select unnest(…) as …, …) as
 * incoming`.
 *
 * In the select list, the arrays are expanded in parallel; in a `from` clause each would first be copied as a whole.
 * Values are encoded by their column's type (`toArray`); invalid ones throw PostgreSQL's error.
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

/** Escapes a text for a `like` pattern, so that `%` and `_` match literally. */
export const likeContains = (text: string): string => `%${text.replaceAll(/[\\%_]/g, found => `\\${found}`)}%`;
