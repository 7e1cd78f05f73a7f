import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { retryDelay, sustainable } from '../../src/queue/line.ts';

describe('the delay before the next attempt', () => {
  test('doubles from a second to a minute', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 100].map(attempts => retryDelay(attempts, () => 0.5) / 1000);
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });

  test('is spread by a fifth to either side', () => {
    expect(retryDelay(7, () => 0)).toBe(48_000);
    expect(retryDelay(7, () => 1)).toBe(72_000);
  });

  test('is a whole number of milliseconds for any number of attempts', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000_000 }), attempts => {
        const delay = retryDelay(attempts);
        expect(Number.isInteger(delay) && delay >= 800 && delay <= 72_000).toBe(true);
      }),
    );
  });
});

describe('how many jobs are held at once', () => {
  test('is what was asked for while taking one is quick, and fewer the longer it takes', () => {
    expect([0, 1, 100, 250, 1000, 5000, 60_000].map(tookMs => sustainable(tookMs, 50))).toEqual([
      50, 50, 50, 20, 5, 1, 1,
    ]);
    expect(sustainable(1, 1)).toBe(1);
  });

  test('lets all be taken, one after the other, in half the time of a lock', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 50 }), (tookMs, most) => {
        expect(sustainable(tookMs, most) * tookMs).toBeLessThanOrEqual(5000);
      }),
    );
  });
});
