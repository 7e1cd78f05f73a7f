import { LRUCache } from 'lru-cache';
import { DAY_MS, MINUTE_MS } from '../durations.ts';

/**
 * Formatters by time zone: creating one is slower than using it, and it takes 30 KB. Case does not matter in the name of a
 * zone, so tenants can give one zone any number of names.
 */
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: 300 });

function formatterOf(timezone: string): Intl.DateTimeFormat {
  const known = formatters.get(timezone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' });
  formatters.set(timezone, made);
  return made;
}

/** Returns the clock of a time zone at an instant, in whole minutes, as if it were UTC. */
export const clockAt = (instant: number, timezone: string): number =>
  Date.parse(`${formatterOf(timezone).format(instant).replace(' ', 'T')}:00Z`);

/** The difference of a time zone's clock to UTC. */
const offsetAt = (instant: number, timezone: string): number =>
  clockAt(instant, timezone) - Math.floor(instant / MINUTE_MS) * MINUTE_MS;

/** Returns the first instant, of whole minutes from one that is earlier to one that is not, at which the clock reaches a time. */
function firstReaching(clock: number, timezone: string, [earlier, reached]: [number, number]): number {
  if (reached - earlier <= MINUTE_MS) return reached;
  const middle = earlier + Math.floor((reached - earlier) / 2 / MINUTE_MS) * MINUTE_MS;
  const isReached = clockAt(middle, timezone) >= clock;
  return firstReaching(clock, timezone, isReached ? [earlier, middle] : [middle, reached]);
}

/**
 * Returns the first instant at which the clock of a time zone shows a time or a later one. The time is given as if it were
 * UTC.
 *
 * Of a time that the clock shows twice, because it was set back, it is the first. For a time that the clock skips it is the
 * moment at which the clock is set forward.
 */
export function instantOf(clock: number, timezone: string): number {
  const before = offsetAt(clock - DAY_MS, timezone);
  const after = offsetAt(clock + DAY_MS, timezone);
  const shown = [clock - before, clock - after].filter(instant => clockAt(instant, timezone) === clock);
  return shown.length > 0 ? Math.min(...shown) : firstReaching(clock, timezone, [clock - after, clock - before]);
}
