import { toJson } from '../json.ts';
import { isDue } from './refusals.ts';
import type { Entry } from './storage.ts';

/** Maximum number of answers per request. */
export const MAX_BATCH = 100;
/** Maximum size in bytes: browsers limit all `keepalive` requests of a page to 64 KB together. */
export const MAX_BATCH_BYTES = 49_152;

const bytesOf = (entry: Entry): number => new TextEncoder().encode(toJson(entry.answer)).length;

/** Returns the first entries that fit into a request; at least one. */
export function takeBatch(entries: Entry[], size: number): Entry[] {
  let bytes = 1; // array brackets and commas: one per item, plus one
  const fitting: Entry[] = [];
  for (const entry of entries.slice(0, size)) {
    bytes += bytesOf(entry) + 1;
    if (bytes > MAX_BATCH_BYTES && fitting.length > 0) break;
    fitting.push(entry);
  }
  return fitting;
}

/** Returns the entries of the next request. One that was refused on the way has a request of its own, after the others. */
export function nextBatch(entries: Entry[], size: number, now: number): Entry[] {
  const batch = takeBatch(
    entries.filter(({ nextTryAt }) => nextTryAt === undefined),
    size,
  );
  return batch.length > 0 ? batch : entries.filter(entry => isDue(entry, now)).slice(0, 1);
}
