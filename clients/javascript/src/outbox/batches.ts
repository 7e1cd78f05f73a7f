import type { Entry } from './storage.ts';

/** How many answers a request carries at most. */
export const MAX_BATCH = 100;
/** How many bytes they have at most: a browser sends 64 KB beyond a page's end, and not all of it is ours. */
export const MAX_BATCH_BYTES = 49_152;

const bytesOf = (entry: Entry): number => new TextEncoder().encode(JSON.stringify(entry.answer)).length;

/** The first entries that fit into one request; at least one. */
export function takeBatch(entries: Entry[], size: number): Entry[] {
  let bytes = 1; // the brackets and commas of the array: one for each item, and one more
  const fitting: Entry[] = [];
  for (const entry of entries.slice(0, size)) {
    bytes += bytesOf(entry) + 1;
    if (bytes > MAX_BATCH_BYTES && fitting.length > 0) break;
    fitting.push(entry);
  }
  return fitting;
}
