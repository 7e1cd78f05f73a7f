/** Height of a message that was not measured yet, in pixels. */
const ESTIMATE = 84;
/** Messages rendered beyond each edge of the visible part. */
const OVERSCAN = 12;

/** The rendered part of a list, and the space of the rest. */
export interface Window {
  start: number;
  end: number;
  /** Height before and after the rendered part, in pixels. */
  before: number;
  after: number;
}

/** Returns the part of a list to render for a scroll position. `heights` has the measured heights, with the gaps. */
export function windowAt(
  ids: readonly string[],
  heights: ReadonlyMap<string, number>,
  { top, height }: { top: number; height: number },
): Window {
  const heightOf = (at: number) => heights.get(ids[at] ?? '') ?? ESTIMATE;
  const sum = (from: number, to: number) => {
    let total = 0;
    for (let at = from; at < to; at++) total += heightOf(at);
    return total;
  };
  const visible = Math.min(top, Math.max(0, sum(0, ids.length) - height));
  let first = 0;
  let y = 0;
  while (first < ids.length - 1 && y + heightOf(first) <= visible) y += heightOf(first++);
  let last = first;
  for (let below = y; last < ids.length && below < visible + height; last++) below += heightOf(last);
  const start = Math.max(0, first - OVERSCAN);
  const end = Math.min(ids.length, last + OVERSCAN);
  return { start, end, before: sum(0, start), after: sum(end, ids.length) };
}

/** The message at the top edge, and its distance from it. It keeps its place when messages are added or measured. */
export interface Anchor {
  id: string;
  offset: number;
}

/** Returns the scroll position at which a message has its distance from the top edge; undefined without it. */
export function topOf(
  ids: readonly string[],
  heights: ReadonlyMap<string, number>,
  { id, offset }: Anchor,
): number | undefined {
  let y = 0;
  for (const each of ids) {
    if (each === id) return y - offset;
    y += heights.get(each) ?? ESTIMATE;
  }
  return undefined;
}

/** Returns the window at the end of a list, where a conversation opens. */
export const windowAtEnd = (ids: readonly string[], heights: ReadonlyMap<string, number>, height: number): Window =>
  windowAt(ids, heights, { top: Number.MAX_SAFE_INTEGER, height });

export const isSameWindow = (one: Window, other: Window): boolean =>
  one.start === other.start && one.end === other.end && one.before === other.before && one.after === other.after;
