import { type ElementType, toArray } from './arrays.ts';

/** Conditions of a `where` clause with numbered parameters. */
export interface Where {
  /** Adds `condition`, in which each `$` is replaced by the parameter of the next of `values`. */
  and(condition: string, ...values: unknown[]): void;
  /** Adds a parameter, such as a limit, and returns its placeholder. */
  param(value: unknown): string;
  readonly sql: string;
  /** The parameters of all that share them. */
  readonly params: unknown[];
  /** The number of parameters in these conditions. */
  readonly values: number;
  /** The number of conditions. */
  readonly size: number;
}

/** Creates an empty `Where`. Two that share `params` can be used in one statement. */
export function createWhere(params: unknown[] = []): Where {
  const conditions: string[] = [];
  let count = 0;
  const param = (value: unknown) => `$${params.push(value)}`;
  return {
    and(condition, ...values) {
      const queue = [...values];
      count += values.length;
      conditions.push(condition.replaceAll('$', () => param(queue.shift())));
    },
    param,
    get sql() {
      return conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
    },
    params,
    get values() {
      return count;
    },
    get size() {
      return conditions.length;
    },
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
  const ofRows = names.map(name => [name, [columns[name] as ElementType, rows.map(row => row[name])]] as const);
  return unnestColumns(Object.fromEntries(ofRows), firstParam);
}

/** `unnest` of columns: each with its type, and all with the same number of values. */
export function unnestColumns(columns: Record<string, readonly [ElementType, readonly unknown[]]>, firstParam = 1) {
  const all = Object.entries(columns);
  const walked = all.map(([name, [type]], index) => `unnest($${firstParam + index}::${type}[]) as "${name}"`);
  return {
    sql: `(select ${walked.join(', ')}) as incoming`,
    params: all.map(([, [type, values]]) => toArray(values, type)),
  };
}

/**
 * Makes rows of one tenant (`$1`) a `with` query, to be joined by their whole key: `tenant_id` and further columns.
 *
 * A generic plan is made for an average tenant. Compared with a constant tenant, as in `tenant_id = $1 and id = any($2)`,
 * it may read all rows of the tenant from another index. This form is looked up by its key, row by row.
 */
export const wantedRows = (columns: string): string =>
  `wanted as materialized (select $1::uuid as tenant_id, ${columns})`;

/** `wantedRows` with these ids (`$2`), each once. */
export const WANTED_IDS = wantedRows('id from (select distinct unnest($2::uuid[]) as id) as ids');

/** Escapes a text for a `like` pattern, so that `%` and `_` match literally. */
export const likeContains = (text: string): string => `%${text.replaceAll(/[\\%_]/g, found => `\\${found}`)}%`;
