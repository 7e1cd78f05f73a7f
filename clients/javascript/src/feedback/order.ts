/** A number from 0 to 2^32 for a text, evenly spread (FNV-1a). */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** Returns items in an order of their own for each seed, the same each time. */
export const orderBy = <Item extends { id: string }>(seed: string, items: Item[]): Item[] =>
  items
    .map(item => [hashOf(item.id + seed), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
