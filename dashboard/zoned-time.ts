/** Times of the clock in a time zone, as `datetime-local` fields have them: `2026-11-25T09:00`. */

/** Formats by zone; creating one is slow. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  formats.set(timeZone, format);
  return format;
}

/** Returns the time of the clock in a zone at an instant. Years have four digits, also 0002, which a typed 2 is at first. */
export const wallTimeOf = (instant: string, timeZone: string): string =>
  formatOf(timeZone).format(new Date(instant)).replace(' ', 'T').padStart(16, '0');

/** The difference of a zone's clock to UTC at a time, in milliseconds. */
const offsetAt = (time: number, timeZone: string): number =>
  Date.parse(`${wallTimeOf(new Date(time).toISOString(), timeZone)}:00Z`) - Math.floor(time / 60_000) * 60_000;

/**
 * Returns the instant at which the clock of a zone shows a time. When the clock is set back, it shows some times twice:
 * the first one counts. A time that it skips becomes the one that is as much later.
 */
export function instantOf(wallTime: string, timeZone: string): string {
  const asUtc = Date.parse(`${wallTime}:00Z`);
  const earlier = offsetAt(asUtc - 86_400_000, timeZone);
  const later = offsetAt(asUtc + 86_400_000, timeZone);
  const candidates = [asUtc - earlier, asUtc - later].sort((one, other) => one - other);
  const exact = candidates.find(time => offsetAt(time, timeZone) === asUtc - time);
  return new Date(exact ?? asUtc - earlier).toISOString();
}
