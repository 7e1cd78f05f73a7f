import { DAY_MS, MINUTE_MS } from './durations.ts';

/** Formatters by time zone: creating one is slower than using it. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timezone: string): Intl.DateTimeFormat {
  const known = formatters.get(timezone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' });
  formatters.set(timezone, made); // at most as many as there are time zones
  return made;
}

/** Returns the clock of a time zone at an instant, in whole minutes, as if it were UTC. */
export const clockAt = (instant: number, timezone: string): number =>
  Date.parse(`${formatterOf(timezone).format(instant).replace(' ', 'T')}:00Z`);

/** The difference of a time zone's clock to UTC. */
const offsetAt = (instant: number, timezone: string): number =>
  clockAt(instant, timezone) - Math.floor(instant / MINUTE_MS) * MINUTE_MS;

/**
 * Returns the instant at which the clock of a time zone shows a time, given as if it were UTC.
 *
 * Of a time that the clock shows twice, because it was set back, it is the first. A time that the clock skips becomes
 * the one that is as much later.
 */
export function instantOf(clock: number, timezone: string): number {
  const before = offsetAt(clock - DAY_MS, timezone);
  const after = offsetAt(clock + DAY_MS, timezone);
  const shown = [clock - before, clock - after].filter(instant => clockAt(instant, timezone) === clock);
  return shown.length > 0 ? Math.min(...shown) : clock - before;
}
