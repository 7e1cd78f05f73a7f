import { describe, expect, test, vi } from 'vitest';
import { OfficeHours, type OfficePeriod, replyDueAt } from '../../../src/domain/conversations/reply-targets.ts';
import { clockAt } from '../../../src/domain/conversations/zoned-time.ts';
import { leastMs } from '../../support/least-ms.ts';

const on = (days: number[], ...periods: [string, string][]): OfficePeriod[] =>
  days.flatMap(day => periods.map(([from, to]) => ({ day, from, to })));

const WEEK = [1, 2, 3, 4, 5, 6, 7];
const HOURS: Record<string, OfficePeriod[]> = {
  office: on([1, 2, 3, 4, 5], ['09:00', '12:00'], ['13:00', '17:00']),
  night: on(WEEK, ['01:00', '05:00']),
  gap: on([7], ['02:00', '02:30'], ['03:00', '04:00']),
  toGap: on(WEEK, ['01:00', '02:30']),
  fromGap: on(WEEK, ['02:30', '05:00']),
  evening: on(WEEK, ['22:00', '24:00']),
  always: on(WEEK, ['00:00', '24:00']),
  thursday: on([4], ['00:00', '00:30']),
  none: [],
};

const BERLIN = 'Europe/Berlin';
const HOWE = 'Australia/Lord_Howe';

describe('the time of a reply', () => {
  test.each<[string, string, string, string, number, string]>([
    ['within a period', BERLIN, 'office', '2026-11-25T08:00:00Z', 60, '2026-11-25T09:00:00Z'],
    ['to the last minute of a period', BERLIN, 'office', '2026-11-25T08:00:00Z', 180, '2026-11-25T11:00:00Z'],
    ['over the lunch break', BERLIN, 'office', '2026-11-25T10:30:00Z', 60, '2026-11-25T12:30:00Z'],
    ['with its milliseconds', BERLIN, 'office', '2026-11-25T08:00:00.500Z', 180, '2026-11-25T12:00:00.500Z'],
    ['from before the office opens', BERLIN, 'office', '2026-11-25T05:00:00Z', 15, '2026-11-25T08:15:00Z'],
    ['from Friday to Monday', BERLIN, 'office', '2026-11-27T15:30:00Z', 60, '2026-11-30T08:30:00Z'],
    ['from a Saturday', BERLIN, 'office', '2026-11-28T10:00:00Z', 60, '2026-11-30T09:00:00Z'],
    ['over several days', BERLIN, 'office', '2026-11-25T08:00:00Z', 900, '2026-11-27T09:00:00Z'],
    ['without office hours', BERLIN, 'none', '2026-11-28T23:30:00Z', 60, '2026-11-29T00:30:00Z'],
    [
      'on a day in a zone ahead of UTC',
      'Asia/Kathmandu',
      'thursday',
      '2026-11-25T18:20:00Z',
      10,
      '2026-11-25T18:30:00Z',
    ],
    ['a week later', 'Asia/Kathmandu', 'thursday', '2026-11-25T18:20:00Z', 30, '2026-12-02T18:20:00Z'],
    ['behind UTC', 'America/Los_Angeles', 'office', '2026-11-28T00:30:00Z', 60, '2026-11-30T17:30:00Z'],
    // 2026-03-29, 01:00 UTC: 02:00 becomes 03:00. The night has three hours.
    ['when the clock is set forward', BERLIN, 'night', '2026-03-28T22:30:00Z', 120, '2026-03-29T02:00:00Z'],
    ['after a shorter night', BERLIN, 'night', '2026-03-28T22:30:00Z', 200, '2026-03-29T23:20:00Z'],
    ['after a period that the clock skips', BERLIN, 'gap', '2026-03-28T22:30:00Z', 70, '2026-04-05T00:10:00Z'],
    // 2026-10-25, 01:00 UTC: 03:00 becomes 02:00. The night has five hours.
    ['when the clock is set back', BERLIN, 'night', '2026-10-24T22:30:00Z', 300, '2026-10-25T04:00:00Z'],
    ['after a longer night', BERLIN, 'night', '2026-10-24T22:30:00Z', 310, '2026-10-26T00:10:00Z'],
    ['in a period that the clock shows twice', BERLIN, 'gap', '2026-10-24T23:00:00Z', 30, '2026-10-25T00:30:00Z'],
    ['in a period whose end the clock skips', BERLIN, 'toGap', '2026-03-28T22:30:00Z', 70, '2026-03-29T23:10:00Z'],
    ['in one whose beginning it skips', BERLIN, 'fromGap', '2026-03-28T22:30:00Z', 70, '2026-03-29T02:10:00Z'],
    ['in a period that ends twice', BERLIN, 'toGap', '2026-10-24T22:30:00Z', 90, '2026-10-25T00:30:00Z'],
    ['after a period that ended the first time', BERLIN, 'toGap', '2026-10-24T22:30:00Z', 130, '2026-10-26T00:40:00Z'],
    ['in a period that begins twice', BERLIN, 'fromGap', '2026-10-24T22:30:00Z', 150, '2026-10-25T03:00:00Z'],
    // Two hours in Troll, and the last hour of a Saturday in Nuuk: 2026-03-29, 01:00 UTC, and 2026-10-25, 01:00 UTC.
    [
      'when the clock skips two hours',
      'Antarctica/Troll',
      'night',
      '2026-03-29T00:00:00Z',
      100,
      '2026-03-29T02:40:00Z',
    ],
    ['before a day that begins late', 'America/Nuuk', 'evening', '2026-03-28T23:30:00Z', 80, '2026-03-29T23:20:00Z'],
    ['before midnight twice', 'America/Nuuk', 'evening', '2026-10-24T23:30:00Z', 150, '2026-10-25T02:00:00Z'],
    // Casablanca's clock is an hour behind in Ramadan, from 2026-02-15, 02:00 UTC.
    ['at the beginning of Ramadan', 'Africa/Casablanca', 'toGap', '2026-02-15T00:00:00Z', 90, '2026-02-15T01:30:00Z'],
    // Half an hour on Lord Howe Island: 2026-04-04, 15:00 UTC, and 2026-10-03, 15:30 UTC.
    ['when the clock is set back by half an hour', HOWE, 'night', '2026-04-04T12:00:00Z', 270, '2026-04-04T18:30:00Z'],
    ['after that night', HOWE, 'night', '2026-04-04T12:00:00Z', 300, '2026-04-05T15:00:00Z'],
    ['when it is set forward by half an hour', HOWE, 'night', '2026-10-03T12:00:00Z', 210, '2026-10-03T18:00:00Z'],
    ['after that shorter night', HOWE, 'night', '2026-10-03T12:00:00Z', 240, '2026-10-04T14:30:00Z'],
    ['over midnight of a short day', BERLIN, 'always', '2026-03-28T23:00:00Z', 1440, '2026-03-29T23:00:00Z'],
    ['over midnight of a long day', BERLIN, 'always', '2026-10-24T22:00:00Z', 1500, '2026-10-25T23:00:00Z'],
  ])('is right %s', (_, ...[timezone, hours, since, minutes, due]) => {
    const plan = { timezone, office_hours: HOURS[hours] as OfficePeriod[], reply_targets: { high: minutes } };
    expect(replyDueAt(new Date(since), 'high', plan)).toEqual(new Date(due));
  });

  test('does not exist for a priority without a target', () => {
    const plan = { timezone: 'UTC', office_hours: [], reply_targets: { urgent: 60 } };
    expect(replyDueAt(new Date(), 'none', plan)).toBeNull();
  });

  test('costs little for a hundred conversations of a bulk change, with a target hundreds of weeks ahead', () => {
    const since = (at: number) => new Date(Date.parse('2026-11-25T08:00:00Z') + at);
    const makePlan = () => ({ timezone: BERLIN, office_hours: HOURS.thursday ?? [], reply_targets: { high: 10_080 } });
    const compute = (count: number, planOf: () => ReturnType<typeof makePlan>) =>
      leastMs(() => Array.from({ length: count }, (_, at) => replyDueAt(since(at), 'high', planOf())));
    const one = compute(10, makePlan);
    const plan = makePlan();
    expect(compute(100, () => plan)).toBeLessThan(one);
  });
});

test.each<[string, OfficePeriod[], boolean]>([
  ['periods that meet', on([1], ['09:00', '12:00'], ['12:00', '17:00']), true],
  ['the same period on two days', on([1, 2], ['09:00', '12:00']), true],
  ['periods that overlap', on([1], ['09:00', '12:00'], ['11:00', '17:00']), false],
  ['a period twice', on([1], ['09:00', '12:00'], ['09:00', '12:00']), false],
  ['a period that ends before it begins', on([1], ['22:00', '06:00']), false],
  ['a period of 29 minutes', on([1], ['09:00', '09:29']), false],
  ['a time that no clock shows', on([1], ['09:00', '24:30']), false],
])('office hours with %s', (_, periods, isAccepted) => {
  expect(OfficeHours.safeParse(periods).success).toBe(isAccepted);
});

test('names of one time zone in any case take a limited amount of memory', () => {
  const letters = 'australia/brisbane';
  const spell = (number: number) =>
    [...letters].map((letter, at) => ((number >> at) & 1 ? letter.toUpperCase() : letter)).join('');
  const spy = vi.spyOn(Intl, 'DateTimeFormat');
  try {
    const instant = Date.parse('2026-11-25T08:00:00Z');
    for (let round = 0; round < 2; round++) expect(clockAt(instant, spell(0))).toBe(instant + 10 * 3_600_000);
    expect(spy).toHaveBeenCalledTimes(1);
    for (let number = 1; number <= 300; number++) clockAt(instant, spell(number));
    clockAt(instant, spell(0));
    expect(spy).toHaveBeenCalledTimes(302);
  } finally {
    spy.mockRestore();
  }
});
