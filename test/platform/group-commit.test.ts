import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createGroupCommit } from '../../src/platform/group-commit.ts';

/** A group commit whose flushes are ended by the test. */
function controlled(maxInFlight = 2, maxItems = 3, spacingMs = 0) {
  const flushes: { items: number[]; succeed(): void; fail(error: Error): void }[] = [];
  const group = createGroupCommit<number, string>({
    maxInFlight,
    spacingMs,
    weigh: item => [1, item],
    maxWeights: [maxItems, 100],
    flush: items =>
      new Promise((resolve, reject) =>
        flushes.push({ items, succeed: () => resolve(items.map(item => `done ${item}`)), fail: reject }),
      ),
  });
  return { group, flushes };
}

const turn = () => new Promise(resolve => setImmediate(() => setImmediate(resolve)));

describe('a group commit', () => {
  test('sends a single item immediately, with its own result', async () => {
    const { group, flushes } = controlled();
    const result = group.add(1);
    await turn();
    expect(flushes.map(flush => flush.items)).toEqual([[1]]);
    flushes[0]?.succeed();
    expect(await result).toBe('done 1');
  });

  test('collects items while its slots are taken, within the limits of a group', async () => {
    const { group, flushes } = controlled(1, 3);
    const first = group.add(1);
    await turn();
    const later = [2, 3, 4, 5].map(item => group.add(item));
    await turn();
    expect(flushes.map(flush => flush.items)).toEqual([[1]]);
    flushes[0]?.succeed();
    await first;
    await turn();
    expect(flushes[1]?.items).toEqual([2, 3, 4]);
    flushes[1]?.succeed();
    await turn();
    expect(flushes[2]?.items).toEqual([5]);
    flushes[2]?.succeed();
    expect(await Promise.all(later)).toEqual(['done 2', 'done 3', 'done 4', 'done 5']);
  });

  test('is sent before the event loop continues, with all concurrent items', async () => {
    const { group, flushes } = controlled(2, 10);
    const seen = new Promise(resolve => setImmediate(() => resolve(flushes.map(flush => flush.items))));
    const come = async (item: number) => {
      for (let step = 0; step < 10; step++) await undefined;
      return group.add(item);
    };
    const results = Promise.all([1, 2, 3].map(come));
    expect(await seen).toEqual([[1, 2, 3]]);
    flushes[0]?.succeed();
    await results;
  });

  test('sends no group next to a larger one in progress, unless it is full', async () => {
    const { group, flushes } = controlled(2, 3);
    const results = [group.add(1), group.add(2)];
    await turn();
    results.push(group.add(3));
    await turn();
    expect(flushes.map(flush => flush.items)).toEqual([[1, 2]]);
    results.push(group.add(4));
    await turn();
    expect(flushes.map(flush => flush.items)).toEqual([
      [1, 2],
      [3, 4],
    ]);
    flushes[0]?.succeed();
    results.push(group.add(5));
    await turn();
    expect(flushes).toHaveLength(2);
    flushes[1]?.succeed();
    await turn();
    expect(flushes[2]?.items).toEqual([5]);
    flushes[2]?.succeed();
    expect(await Promise.all(results)).toHaveLength(5);
  });

  test('reports how long the next item has waited', async () => {
    const { group, flushes } = controlled(1, 3);
    void group.add(1);
    await turn();
    expect(group.waitedMs).toBe(0);
    void group.add(2);
    await sleep(30);
    void group.add(3);
    expect(group.waitedMs).toBeGreaterThanOrEqual(29);
    flushes[0]?.succeed();
    await turn();
    expect(group.waitedMs).toBe(0);
  });

  test('respects the second weight, and sends an oversized item separately', async () => {
    const { group, flushes } = controlled(1, 10);
    void group.add(1);
    await turn();
    for (const item of [60, 60, 500, 2]) void group.add(item);
    for (let index = 0; index < 4; index++) {
      flushes[index]?.succeed();
      await turn();
    }
    expect(flushes.map(flush => flush.items)).toEqual([[1], [60], [60], [500], [2]]);
    flushes[4]?.succeed();
  });

  test('never has more groups in progress than allowed', async () => {
    const { group, flushes } = controlled(2, 1);
    for (const item of [1, 2, 3]) void group.add(item);
    await turn();
    expect(flushes).toHaveLength(2);
    flushes[0]?.succeed();
    await turn();
    expect(flushes).toHaveLength(3);
    for (const flush of flushes.slice(1)) flush.succeed();
    await group.drained();
  });

  test('fails exactly the items of the group that failed', async () => {
    const { group, flushes } = controlled(1, 2);
    const outcomes = Promise.allSettled([1, 2, 3, 4].map(item => group.add(item)));
    await turn();
    flushes[0]?.fail(new Error('the store is away'));
    await turn();
    flushes[1]?.succeed();
    expect((await outcomes).map(outcome => outcome.status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
  });

  test('is drained when all groups have ended, failed or not', async () => {
    const { group, flushes } = controlled();
    await group.drained();
    const failing = group.add(1).catch((error: Error) => error.message);
    let drained = false;
    const waiting = group.drained().then(() => {
      drained = true;
    });
    await turn();
    expect(drained).toBe(false);
    flushes[0]?.fail(new Error('no'));
    await waiting;
    expect(await failing).toBe('no');
  });

  describe('with a spacing', () => {
    test('sends a single item immediately, and closely following ones together', async () => {
      const { group, flushes } = controlled(2, 10, 150);
      const first = group.add(1);
      await turn();
      expect(flushes.map(flush => flush.items)).toEqual([[1]]);
      flushes[0]?.succeed();
      await first;
      const later = [2, 3].map(item => group.add(item));
      await turn();
      expect(flushes).toHaveLength(1);
      later.push(group.add(4));
      await expect.poll(() => flushes[1]?.items).toEqual([2, 3, 4]);
      flushes[1]?.succeed();
      expect(await Promise.all(later)).toEqual(['done 2', 'done 3', 'done 4']);
    });

    test('never holds back a full group', async () => {
      const { group, flushes } = controlled(2, 2, 60_000);
      void group.add(1);
      await turn();
      for (const item of [2, 3, 4]) void group.add(item);
      await turn();
      expect(flushes.map(flush => flush.items)).toEqual([[1], [2, 3]]);
    });

    test('is drained only when delayed items have ended too', async () => {
      const { group, flushes } = controlled(2, 10, 50);
      void group.add(1);
      await turn();
      void group.add(2);
      flushes[0]?.succeed();
      let isDrained = false;
      const drained = group.drained().then(() => {
        isDrained = true;
      });
      await expect.poll(() => flushes.length).toBe(2);
      expect(isDrained).toBe(false);
      flushes[1]?.succeed();
      await drained;
    });
  });
});
