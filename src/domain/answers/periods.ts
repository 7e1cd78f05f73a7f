import { clockAt, instantOf } from '../conversations/zoned-time.ts';
import { DAY_MS, MINUTE_MS } from '../durations.ts';
import type { ResponseLimit } from '../rules/card-rules.ts';

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

/** The first date after each kind of period. */
const NEXT: Record<Exclude<ResponseLimit['per'], 'total'>, (date: Date) => number> = {
  day: date => date.getTime() + DAY_MS,
  week: date => date.getTime() + 7 * DAY_MS,
  month: date => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1),
};

/** A period of a time zone's calendar. */
export interface Period {
  begins: Date;
  ends: Date;
  /** The offset at its end as PostgreSQL reads it, with the sign of POSIX: `-02:00` is two hours east of Greenwich. */
  offset: string;
}

/**
 * Returns when the period that begins on a date begins and ends. PostgreSQL is given these times and not the name of the
 * zone: it does not know every zone that a tenant can have, and reads some names, such as CET, as a fixed offset.
 */
export function boundsOf(per: Exclude<ResponseLimit['per'], 'total'>, date: string, timezone: string): Period {
  const next = NEXT[per](new Date(date));
  const ends = instantOf(next, timezone);
  const minutes = Math.round(Math.abs(next - ends) / MINUTE_MS);
  const digits = [Math.floor(minutes / 60), minutes % 60].map(part => String(part).padStart(2, '0')).join(':');
  const offset = `${next < ends ? '+' : '-'}${digits}`;
  return { begins: new Date(instantOf(Date.parse(date), timezone)), ends: new Date(ends), offset };
}
