import { formatTime, t } from '../../i18n.ts';

/** Shortest and longest time of a snooze (contract section 5). */
const MIN_MS = 60_000;
const MAX_MS = 365 * 86_400_000;

/** Hour at which a snoozed conversation comes back on a later day. */
const MORNING = 9;
const LATER_MS = 3 * 3_600_000;

const morningIn = (days: number, now: Date): Date =>
  new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, MORNING);

/** Days until the next Monday; a week on Mondays. */
const daysToMonday = (now: Date): number => (8 - now.getDay()) % 7 || 7;

export interface SnoozeTime {
  id: string;
  label: string;
  /** The time in a few words. */
  hint: string;
  at: Date;
}

/** Returns the offered times, by the clock of this browser. */
export function snoozeTimes(now = new Date()): SnoozeTime[] {
  const weekday = { weekday: 'short', hour: 'numeric', minute: '2-digit' } as const;
  const offer = (id: string, label: string, at: Date): SnoozeTime => ({ id, label, at, hint: formatTime(at, weekday) });
  return [
    offer('later', t('In 3 hours'), new Date(now.getTime() + LATER_MS)),
    offer('tomorrow', t('Tomorrow morning'), morningIn(1, now)),
    offer('monday', t('Monday morning'), morningIn(daysToMonday(now), now)),
    offer('weeks', t('In 2 weeks'), morningIn(14, now)),
  ];
}

/** Whether a conversation can be snoozed until this time. */
export const canSnoozeUntil = (at: Date, now = new Date()): boolean => {
  const ahead = at.getTime() - now.getTime();
  return ahead >= MIN_MS && ahead <= MAX_MS;
};

/** Returns a time as a `datetime-local` field has it, by the clock of this browser. */
export function fieldTimeOf(at: Date): string {
  const two = (number: number) => String(number).padStart(2, '0');
  const date = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}`;
}
