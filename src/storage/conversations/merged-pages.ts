import type { Page } from '../../domain/pages.ts';

/** A row with its position in the order of the lists. */
interface Placed<Row> {
  row: Row;
  key: [time: string, id: string];
}

const compare = ([time, id]: string[], [otherTime, otherId]: string[]): number =>
  (time ?? '').localeCompare(otherTime ?? '') || (id ?? '').localeCompare(otherId ?? '');

/**
 * Merges pages of lists with the same ascending order by time and id, which start at the same position, into one page.
 *
 * A page that is not the last of its list is complete only up to its `next`, so rows of other lists after that wait for
 * the next page.
 */
export function mergePages<Row>(pages: Page<Row>[], limit: number, keyOf: (row: Row) => [string, string]): Page<Row> {
  const ends = pages.flatMap(({ next }) => (next ? [next] : [])).sort(compare);
  const [end] = ends;
  const placed: Placed<Row>[] = pages.flatMap(({ rows }) => rows.map(row => ({ row, key: keyOf(row) })));
  const complete = placed.filter(({ key }) => !end || compare(key, end) <= 0);
  complete.sort((one, other) => compare(one.key, other.key));
  const taken = complete.slice(0, limit);
  const next = complete.length > limit ? (taken.at(-1)?.key ?? null) : (end ?? null);
  return { rows: taken.map(({ row }) => row), next };
}
