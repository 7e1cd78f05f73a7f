import type { Entry } from './storage.ts';

/** Maximum number of answers per request. */
export const MAX_BATCH = 100;
/** Maximum size in bytes: browsers limit all `keepalive` requests of a page to 64 KB together. */
export const MAX_BATCH_BYTES = 49_152;

const bytesOf = (entry: Entry): number => new TextEncoder().encode(JSON.stringify(entry.answer)).length;

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
