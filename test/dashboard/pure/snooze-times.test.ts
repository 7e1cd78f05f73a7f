import { beforeAll, expect, test } from 'vitest';
import { canSnoozeUntil, fieldTimeOf, snoozeTimes } from '../../../dashboard/pages/inbox/snooze-times.ts';
import { activateTexts } from './activate-texts.ts';

beforeAll(() => activateTexts('en'));

const at = (id: string, now: Date) => snoozeTimes(now).find(time => time.id === id)?.at;

test.each([
  ['a Sunday', 22, 23],
  ['a Monday', 23, 30],
  ['a Wednesday', 25, 30],
  ['a Saturday', 28, 30],
])('on %s, Monday morning is the next one', (_, today, monday) => {
  expect(at('monday', new Date(2026, 10, today, 14))).toEqual(new Date(2026, 10, monday, 9));
});

test('tomorrow crosses the end of a month', () => {
  expect(at('tomorrow', new Date(2026, 10, 30, 23, 59))).toEqual(new Date(2026, 11, 1, 9));
});

test('every offered time can be set', () => {
  const now = new Date(2026, 10, 25, 8, 59);
  expect(snoozeTimes(now).every(time => canSnoozeUntil(time.at, now))).toBe(true);
});

test('a time has to be from a minute to a year ahead', () => {
  const now = new Date(2026, 10, 25);
  const ahead = (ms: number) => canSnoozeUntil(new Date(now.getTime() + ms), now);
  expect([ahead(59_000), ahead(60_000), ahead(365 * 86_400_000), ahead(366 * 86_400_000), ahead(Number.NaN)]).toEqual([
    false,
    true,
    true,
    false,
    false,
  ]);
});

test('a field shows the time of the clock', () => {
  expect(fieldTimeOf(new Date(2026, 0, 2, 3, 4))).toBe('2026-01-02T03:04');
});
