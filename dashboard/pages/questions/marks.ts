interface Begun {
  version: number;
  created_at: string;
}

/**
 * Finds the periods in which versions began. `starts` are the first days of the periods, in order.
 *
 * A version from before the first period has no mark, and of several in one period the latest has.
 */
export function marksOf(starts: string[], versions: Begun[]): { at: number; version: number }[] {
  const marks = new Map<number, number>();
  for (const { version, created_at } of versions) {
    const day = created_at.slice(0, 10);
    const first = starts[0];
    if (version === 1 || first === undefined || day < first) continue;
    const at = starts.findLastIndex(start => start <= day);
    marks.set(at, Math.max(version, marks.get(at) ?? 0));
  }
  return [...marks].map(([at, version]) => ({ at, version })).sort((a, b) => a.at - b.at);
}
