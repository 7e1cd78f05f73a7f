import { expect, test } from 'vitest';
import { instantOf, wallTimeOf } from '../../../dashboard/zoned-time.ts';

test.each([
  ['2026-11-25T09:00', 'Europe/Berlin', '2026-11-25T08:00:00.000Z'],
  ['2026-07-01T09:00', 'Europe/Berlin', '2026-07-01T07:00:00.000Z'],
  ['2026-03-29T02:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'], // skipped: 03:30
  ['2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'], // twice: the first
  ['2026-10-25T03:00', 'Europe/Berlin', '2026-10-25T02:00:00.000Z'],
  ['2026-04-05T01:45', 'Australia/Lord_Howe', '2026-04-04T14:45:00.000Z'], // set back by half an hour
  ['2026-01-01T00:15', 'Asia/Kathmandu', '2025-12-31T18:30:00.000Z'],
  ['2026-11-25T23:59', 'UTC', '2026-11-25T23:59:00.000Z'],
])('%s in %s is %s', (wallTime, timeZone, instant) => {
  expect(instantOf(wallTime, timeZone)).toBe(instant);
});

test.each(['0002-03-01T10:00', '0020-03-01T10:00', '0202-03-01T10:00', '9999-12-31T23:59'])(
  '%s, as a year is typed digit by digit, is read and shown again',
  wallTime => {
    for (const zone of ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe'])
      expect(wallTimeOf(instantOf(wallTime, zone), zone)).toBe(wallTime);
  },
);

test('every hour of a year is shown and read as the same instant, except those that the clock shows twice', () => {
  const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC'];
  for (const zone of zones) {
    let differing = 0;
    for (let hour = 0; hour < 365 * 24; hour++) {
      const instant = new Date(Date.UTC(2026, 0, 1, hour)).toISOString();
      if (instantOf(wallTimeOf(instant, zone), zone) !== instant) differing++;
    }
    expect(differing, zone).toBeLessThanOrEqual(1);
  }
});
