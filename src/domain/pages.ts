import { z } from 'zod';
import { TimestampOut } from './text.ts';

export const DEFAULT_LIMIT = 10;
export const MAX_LIMIT = 100;
/** Maximum number of rows scanned for a page. Then the page ends, however many rows matched the filters. */
export const MAX_SCANNED = 5000;

/** A number in a query: digits only. */
export const queryInt = (min: number, max: number) => {
  const range = `Must be an integer from ${min} to ${max}, such as ${min}.`;
  return z
    .string()
    .regex(/^\d{1,10}$/, range)
    .transform(Number)
    .pipe(z.int().min(min, range).max(max, range));
};

/** A boolean in a query. */
export const queryBoolean = z.enum(['true', 'false']).transform(value => value === 'true');

/** The two parameters of every list. */
export const pageQuery = {
  limit: queryInt(1, MAX_LIMIT)
    .default(DEFAULT_LIMIT)
    .meta({ description: `Maximum number of items (1–${MAX_LIMIT}, default ${DEFAULT_LIMIT})` }),
  cursor: z.string().max(2000).optional().meta({ description: '`next_cursor` of the previous page' }),
};

/** The schema of a list page. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    data: z.array(item),
    has_more: z
      .boolean()
      .meta({ description: 'Whether there may be more pages; continue with `next_cursor`, even after an empty page' }),
    next_cursor: z.string().nullable(),
    searched_to: TimestampOut.optional().meta({
      description: `Only in a page that ends early because the request examined ${MAX_SCANNED} rows: the time of the last row`,
    }),
  });

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
