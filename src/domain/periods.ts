import type { ResponseLimit } from './card-rules.ts';

/** Formatters of local dates by time zone: creating one is slower than using it. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** Returns the local date of a time as `YYYY-MM-DD`. */
function dateIn(timezone: string, at: Date): string {
  let formatter = formatters.get(timezone);
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' }); // YYYY-MM-DD;
    formatters.set(timezone, formatter);
  }
  return formatter.format(at);
}

const DAY_MS = 86_400_000;

/** Returns the Monday of the week of a date. */
function mondayOf(date: string): string {
  const at = Date.parse(date);
  const sinceMonday = (new Date(at).getUTCDay() + 6) % 7;
  return new Date(at - sinceMonday * DAY_MS).toISOString().slice(0, 10);
}

/**
 * Returns the first date of the period that contains a time, by the calendar of a time zone; `total` for the only period
 * of a total. Weeks start on Monday.
 */
export function periodOf(per: ResponseLimit['per'], at: Date, timezone: string): string {
  if (per === 'total') return per;
  const date = dateIn(timezone, at);
  if (per === 'day') return date;
  return per === 'week' ? mondayOf(date) : `${date.slice(0, 7)}-01`;
}
