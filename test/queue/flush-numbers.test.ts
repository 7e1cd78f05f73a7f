import { describe, expect, test } from 'vitest';
import { createFlushNumbers } from '../../src/queue/flush-numbers.ts';

describe('the numbers of flushes', () => {
  test('are claimed up to the first flush in progress, including unconfirmed ones', () => {
    const numbers = createFlushNumbers();
    expect([numbers.next(), numbers.next(), numbers.next()]).toEqual([1, 2, 3]);
    numbers.end(1, true);
    numbers.end(3, false);
    expect(numbers.claim(0)).toEqual({ producer: numbers.producer, written: 1, voided: [] });
    numbers.end(2, true);
    expect(numbers.claim(1)).toMatchObject({ written: 3, voided: [3] });
  });

  test('are dropped once they were claimed', () => {
    const numbers = createFlushNumbers();
    for (const isWritten of [false, true, false]) numbers.end(numbers.next(), isWritten);
    expect(numbers.claim(0)).toMatchObject({ written: 3, voided: [1, 3] });
    expect(numbers.claim(1)).toMatchObject({ written: 3, voided: [3] });
    expect(numbers.claim(0)).toMatchObject({ written: 3, voided: [3] });
    expect(numbers.claim(3)).toMatchObject({ written: 3, voided: [] });
  });
});
