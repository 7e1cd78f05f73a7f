import { formatTime, t } from '../../../i18n.ts';
import { instantOf, wallTimeOf } from '../../../zoned-time.ts';

/** Shortest and longest time of a snooze (contract section 5). */
const MIN_MS = 60_000;
const MAX_MS = 365 * 86_400_000;

/** Time of the day at which a snoozed conversation comes back on a later day. */
const MORNING = '09:00';
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

export interface SnoozeTime {
  id: string;
  label: string;
  /** The time in a few words. */
  hint: string;
  /** As an ISO string. */
  until: string;
}

/** Formats the end of a snooze by the clock of a zone. */
export const snoozeText = (until: string, timeZone: string | undefined): string =>
  formatTime(until, { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', timeZone });

/** Days until the next Monday; a week on Mondays. */
const daysToMonday = (weekday: number): number => (8 - weekday) % 7 || 7;

/** Returns the offered times: some hours ahead, and in the morning of later days by the clock of the zone. */
export function snoozeTimes(now: Date, timeZone: string): SnoozeTime[] {
  const today = Date.parse(`${wallTimeOf(now.toISOString(), timeZone).slice(0, 10)}T00:00Z`);
  const inHours = (hours: number) => new Date(now.getTime() + hours * HOUR_MS).toISOString();
  const morningIn = (days: number) =>
    instantOf(`${new Date(today + days * DAY_MS).toISOString().slice(0, 10)}T${MORNING}`, timeZone);
  const offer = (id: string, label: string, until: string): SnoozeTime => ({
    id,
    label,
    until,
    hint: snoozeText(until, timeZone),
  });
  return [
    offer('hour', t('In an hour'), inHours(1)),
    offer('later', t('In 3 hours'), inHours(3)),
    offer('tomorrow', t('Tomorrow morning'), morningIn(1)),
    offer('monday', t('Monday morning'), morningIn(daysToMonday(new Date(today).getUTCDay()))),
    offer('weeks', t('In 2 weeks'), morningIn(14)),
  ];
}

/** Whether a conversation can be snoozed until a time of the zone's clock, such as `2026-11-25T09:00`. */
export function canSnoozeUntil(wallTime: string, timeZone: string, now: Date): boolean {
  const at = Date.parse(`${wallTime}:00Z`);
  if (Number.isNaN(at)) return false;
  const ahead = Date.parse(instantOf(wallTime, timeZone)) - now.getTime();
  return ahead >= MIN_MS && ahead <= MAX_MS;
}
