/** Conditions of a `where`, each with its parameters numbered as they come. */
export interface Where {
  /** Adds `condition`, in which `$` stands for each of `values` in turn. */
  and(condition: string, ...values: unknown[]): void;
  /** The number of a further parameter, such as a limit. */
  param(value: unknown): string;
  readonly sql: string;
  readonly params: unknown[];
}

export function createWhere(): Where {
  const params: unknown[] = [];
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

/** Types of which no value's text needs an escape within an array. */
const PLAIN = new Set(['uuid', 'int', 'bigint', 'boolean', 'timestamptz']);

/**
 * An array as PostgreSQL reads it. The driver looks at each character for what needs an escape; here are made those that
 * need none, and those of JSON: a text that is JSON holds no control character, and its quotes and backslashes are escaped
 * by `JSON.stringify` as PostgreSQL escapes them within an array.
 */
function toArray(values: unknown[], type: string | undefined): unknown {
  if (type === 'jsonb') return `{${JSON.stringify(values.map(value => JSON.stringify(value))).slice(1, -1)}}`;
  return PLAIN.has(type ?? '') ? `{${values.map(value => value ?? 'null').join(',')}}` : values;
}

/**
 * Rows as one array parameter a column: the source of a batch insert, `unnest(…) as incoming(…)`.
 *
 * Of the plain types (uuid, int, bigint, boolean, timestamptz) values are numbers, booleans, null, or text that was
 * checked to be one; of `jsonb` they are any JSON.
 */
export function unnest<Row>(rows: readonly Row[], columns: { [K in keyof Row & string]?: string }, firstParam = 1) {
  const names = Object.keys(columns) as (keyof Row & string)[];
  const arrays = names.map((name, index) => `$${firstParam + index}::${columns[name]}[]`);
  return {
    sql: `unnest(${arrays.join(', ')}) as incoming(${names.map(name => `"${name}"`).join(', ')})`,
    params: names.map(name =>
      toArray(
        rows.map(row => row[name]),
        columns[name],
      ),
    ),
  };
}

/** Text for a `like` pattern in which `%` and `_` mean themselves. */
export const likeContains = (text: string): string => `%${text.replaceAll(/[\\%_]/g, found => `\\${found}`)}%`;
