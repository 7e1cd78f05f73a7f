import { describe, expect, test } from 'vitest';
import { createRequestBatches, MAX_WAIT_MS, NEVER_REFUSED } from '../../src/api/http/request-batches.ts';

/** Batches with a test clock, and requests named by their order. */
function aQueue() {
  const batches = createRequestBatches<number>();
  let [now, added] = [1000, 0];
  return {
    add(count: number, hasBody = false) {
      for (let left = count; left > 0; left--) batches.add(added++, hasBody, now);
    },
    pass(ms: number) {
      now += ms;
    },
    next: () => batches.next(now),
    /** The sizes of all remaining batches; each request takes `busyMs`. */
    sizes(busyMs = 0): number[] {
      const sizes: number[] = [];
      for (;;) {
        const { start, goesOn } = batches.next(now);
        if (!goesOn) return sizes;
        if (start.length > 0) sizes.push(start.length);
        now += start.length * busyMs;
      }
    },
  };
}

describe('a batch', () => {
  test('has at most 64 requests, in the order of their arrival', () => {
    const queue = aQueue();
    queue.add(100);
    expect(queue.next().start).toEqual(Array.from({ length: 64 }, (_, number) => number));
    expect(queue.next().start).toEqual(Array.from({ length: 36 }, (_, number) => 64 + number));
    expect(queue.next()).toEqual({ start: [], refuse: [], goesOn: false });
  });

  test('has half as many with a body', () => {
    const queue = aQueue();
    queue.add(70, true);
    expect(queue.sizes()).toEqual([32, 32, 6]);
  });

  test('waits for more requests while each call sees more, until 32 wait', () => {
    const queue = aQueue();
    for (let waiting = 1; waiting < 32; waiting++) {
      queue.add(1);
      expect(queue.next()).toEqual({ start: [], refuse: [], goesOn: true });
    }
    queue.add(1);
    expect(queue.next().start).toHaveLength(32);
  });

  test('starts a lone request at the second call', () => {
    const queue = aQueue();
    queue.add(1);
    expect(queue.next().start).toEqual([]);
    expect(queue.next().start).toEqual([0]);
  });

  test('shrinks for slow requests, to about 25 ms, and grows again', () => {
    const queue = aQueue();
    queue.add(400);
    const slow = queue.sizes(3);
    expect(slow[0]).toBe(64);
    expect(slow.at(-2)).toBe(9); // 9 × 3 ms
    queue.add(600);
    const fast = queue.sizes(0.01);
    expect(fast[0]).toBe(9);
    expect(Math.max(...fast)).toBe(64);
  });
});

describe('a request that has waited for half a second', () => {
  test('is rejected behind the first 64, and a later one is not', () => {
    const queue = aQueue();
    queue.add(NEVER_REFUSED + 3);
    queue.pass(MAX_WAIT_MS - 1);
    queue.add(2);
    queue.pass(1);
    const { start, refuse } = queue.next();
    expect(refuse).toEqual([64, 65, 66]);
    expect(start).toEqual(Array.from({ length: 64 }, (_, number) => number));
    expect(queue.next().start).toEqual([67, 68]);
  });

  test('is never rejected among the first 64', () => {
    const queue = aQueue();
    queue.add(NEVER_REFUSED);
    queue.pass(10 * MAX_WAIT_MS);
    expect(queue.next()).toMatchObject({ refuse: [], start: { length: 64 } });
  });
});
