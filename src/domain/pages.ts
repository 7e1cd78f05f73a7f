import { z } from 'zod';
import { documentedAs } from './documented.ts';
import { issueOf } from './field-errors.ts';
import { TimestampOut } from './text.ts';

export const DEFAULT_LIMIT = 10;
export const MAX_LIMIT = 100;
/** Maximum number of rows scanned for a page. Then the page ends, however many rows matched the filters. */
export const MAX_SCANNED = 5000;

/** A number in a query: digits only. The document shows an integer. */
export const queryInt = (min: number, max: number) => {
  const range = `Must be an integer from ${min} to ${max}, such as ${min}.`;
  return z
    .string()
    .regex(/^\d{1,10}$/, range)
    .transform(Number)
    .pipe(z.int().min(min, range).max(max, range))
    .meta({ override: documentedAs({ type: 'integer', minimum: min, maximum: max }) });
};

/** A number in a query with a default. */
export const queryIntOr = (min: number, max: number, fallback: number) =>
  queryInt(min, max)
    .default(fallback)
    .meta({ override: documentedAs({ type: 'integer', minimum: min, maximum: max, default: fallback }) });

/** A boolean in a query. */
export const queryBoolean = z
  .enum(['true', 'false'])
  .transform(value => value === 'true')
  .meta({ override: documentedAs({ type: 'boolean' }) });

/**
 * A filter over a closed list: one of its values, or several separated by commas. It stays text, as saved views keep it. With `id`,
 * the document describes its values once.
 */
export function filterOf(values: readonly string[], about: string, id?: string) {
  const listed = values.map(value => `\`${value}\``).join(', ');
  const rule = `Must be one of ${values.join(', ')}, or several of them separated by commas.`;
  return z
    .string()
    .max(2000)
    .check(({ value, issues }) => {
      if (!valuesIn(value).every(each => values.includes(each))) issues.push(issueOf('unknown-value', rule, value));
    })
    .meta({
      ...(id === undefined ? {} : { id }),
      override: documentedAs({ type: 'string', pattern: patternOf(values), example: values.slice(0, 2).join(',') }),
    })
    .optional()
    .meta({ description: `${about}: ${listed}; several are separated by commas` });
}

/** A pattern that matches one of the values, or several separated by commas. */
function patternOf(values: readonly string[]): string {
  const one = `(?:${values.map(value => value.replaceAll('.', '\\.')).join('|')})`;
  return `^${one}(?:,${one})*$`;
}

/** Returns the values of a filter over a closed list. */
export const valuesIn = (filter: string): string[] => filter.split(',');

/** The two parameters of every list. */
export const pageQuery = {
  limit: queryIntOr(1, MAX_LIMIT, DEFAULT_LIMIT).meta({
    description: `Maximum number of items (1–${MAX_LIMIT}, default ${DEFAULT_LIMIT})`,
  }),
  cursor: z.string().max(2000).optional().meta({ description: '`next_cursor` of the previous page' }),
};

/** The description of `updated_since`. */
export const CHANGED_SINCE =
  'Only what was created or changed at or after this time, oldest change first. `Updated-Until` states how far the reply is complete';

/** The schema of a list page, named after its items: `AnswerPage`. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z
    .object({
      data: z.array(item),
      has_more: z.boolean().meta({
        description: 'Whether there may be more pages; continue with `next_cursor`, even after an empty page',
      }),
      next_cursor: z.string().nullable().meta({ description: '`cursor` of the next page; null on the last page' }),
      searched_to: TimestampOut.optional().meta({
        description: `Only in a page that ends early because the request examined ${MAX_SCANNED} rows: the time of the last row`,
      }),
    })
    .meta({ id: `${item.meta()?.id}Page` });

/** A page of rows. `next` is the sort key of the last scanned row if more follow. */
export interface Page<Row> {
  rows: Row[];
  next: string[] | null;
  /** Set when the page ends early: the list has been searched up to this time. */
  searchedTo?: Date;
}

/** Returns a page from rows that were read with one row beyond `limit`. */
export function toPage<Row>(rows: Row[], limit: number, keyOf: (row: Row) => string[]): Page<Row> {
  const last = rows[limit - 1];
  return rows.length > limit && last ? { rows: rows.slice(0, limit), next: keyOf(last) } : { rows, next: null };
}
