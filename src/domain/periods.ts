import type { ResponseLimit } from './card-rules.ts';
import { DAY_MS } from './durations.ts';
import { clockAt } from './zoned-time.ts';

/** Returns the local date of a time as `YYYY-MM-DD`. */
const dateIn = (timezone: string, at: Date): string =>
  new Date(clockAt(at.getTime(), timezone)).toISOString().slice(0, 10);

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
