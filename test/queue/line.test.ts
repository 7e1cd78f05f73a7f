import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { retryDelay } from '../../src/queue/line.ts';

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
