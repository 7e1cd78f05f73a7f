import { beforeAll, expect, test } from 'vitest';
import { canSnoozeUntil, snoozeText, snoozeTimes } from '../../../dashboard/pages/inbox/snooze/snooze-times.ts';
import { wallTimeOf } from '../../../dashboard/zoned-time.ts';
import { activateTexts } from './activate-texts.ts';

beforeAll(() => activateTexts('en'));

const BERLIN = 'Europe/Berlin';
const offered = (now: string) =>
  Object.fromEntries(snoozeTimes(new Date(now), BERLIN).map(({ id, until }) => [id, until]));

test.each([
  ['a Wednesday', '2026-11-25T15:30:00Z', '2026-11-26T08:00:00.000Z', '2026-11-30T08:00:00.000Z'],
  ['a Sunday', '2026-11-29T15:30:00Z', '2026-11-30T08:00:00.000Z', '2026-11-30T08:00:00.000Z'],
  ['a Monday', '2026-11-30T15:30:00Z', '2026-12-01T08:00:00.000Z', '2026-12-07T08:00:00.000Z'],
  ['a Sunday that is Monday in Berlin', '2026-11-29T23:30:00Z', '2026-12-01T08:00:00.000Z', '2026-12-07T08:00:00.000Z'],
  ['the day before the clock changes', '2026-03-28T12:00:00Z', '2026-03-29T07:00:00.000Z', '2026-03-30T07:00:00.000Z'],
])('mornings are at nine by the clock of the tenant, on %s', (_, now, tomorrow, monday) => {
  expect(offered(now)).toMatchObject({ tomorrow, monday });
});

test('other times are some hours ahead', () => {
  expect(offered('2026-11-25T15:30:00Z')).toMatchObject({
    hour: '2026-11-25T16:30:00.000Z',
    later: '2026-11-25T18:30:00.000Z',
  });
});

test('every offered time can be set', () => {
  const now = new Date('2026-11-25T07:59:00Z');
  const all = snoozeTimes(now, BERLIN).map(({ until }) => wallTimeOf(until, BERLIN));
  expect(all.filter(time => !canSnoozeUntil(time, BERLIN, now))).toEqual([]);
});

test('a time has to be from a minute to a year ahead', () => {
  const can = (time: string) => canSnoozeUntil(time, BERLIN, new Date('2026-11-25T15:30:00Z'));
  expect([can('2026-11-25T16:30'), can('2026-11-25T16:31'), can('2027-11-25T16:30'), can('2027-11-25T16:31')]).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(can('')).toBe(false);
});

test('a time is shown by the clock of the tenant', () => {
  expect(snoozeText('2026-11-27T08:00:00Z', BERLIN)).toBe('Fri 27 Nov, 09:00');
});
