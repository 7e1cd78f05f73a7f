import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createFairShare, type FairShareOptions, type Release } from '../../src/platform/fair-share.ts';

const refuse = (reason: string) => new Error(reason);

const share = (options: Partial<FairShareOptions> = {}) =>
  createFairShare({ slots: 4, perKey: 3, maxWaitingPerKey: 5, maxWaiting: 8, maxWaitMs: 1000, refuse, ...options });

/** Waits for a slot that does not become free: its time runs out after the test. */
const waitInVain = (places: ReturnType<typeof share>, key: string) => places.acquire(key).catch(() => undefined);

/** Lets all settled promises run their reactions. */
const settle = () => new Promise(resolve => setImmediate(resolve));

describe('shared slots', () => {
  test('are granted immediately while available, and never all of them to one key', async () => {
    const places = share();
    for (let taken = 0; taken < 3; taken++) expect(await places.acquire('noisy')).toBeTypeOf('function');
    void waitInVain(places, 'noisy');
    expect(places.count()).toEqual({ running: 3, waiting: 1 });
    expect(await places.acquire('quiet')).toBeTypeOf('function');
    expect(places.count()).toEqual({ running: 4, waiting: 1 });
  });

  test('are granted to keys in turn, however many requests of one key wait', async () => {
    const places = share({ slots: 1, perKey: 1 });
    const order: string[] = [];
    const visit = (key: string) => places.run(key, async () => void order.push(key));
    const held = await places.acquire('first');
    const visits = ['a', 'a', 'a', 'b', 'c'].map(visit);
    held();
    await Promise.all(visits);
    expect(order).toEqual(['a', 'b', 'c', 'a', 'a']);
  });

  test('are rejected immediately for keys with too many waiting requests', async () => {
    const places = share({ slots: 1, perKey: 1, maxWaitingPerKey: 2, maxWaiting: 3 });
    for (const key of ['a', 'a', 'a', 'b']) void waitInVain(places, key);
    await expect(places.acquire('a')).rejects.toThrow('full');
    await expect(places.acquire('c')).rejects.toThrow('full');
    expect(places.count()).toEqual({ running: 1, waiting: 3 });
  });

  test('are granted to the priority key first, beyond the share of one key', async () => {
    const places = share({ slots: 2, perKey: 1, priorityKey: 'lookups' });
    const held = [await places.acquire('lookups'), await places.acquire('lookups')];
    const order: string[] = [];
    const waiting = ['a', 'b', 'lookups'].map(key => places.run(key, async () => void order.push(key)));
    held[0]?.();
    await Promise.all(waiting);
    expect(order[0]).toBe('lookups');
  });

  test('are released after work that throws, and only once', async () => {
    const places = share({ slots: 1, perKey: 1 });
    await expect(places.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    const release = await places.acquire('a');
    release();
    release();
    expect(places.count()).toEqual({ running: 0, waiting: 0 });
  });

  describe('that do not become free', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
    afterEach(() => void vi.useRealTimers());

    test('are awaited no longer than the limit', async () => {
      const places = share({ slots: 1, perKey: 1 });
      const release = await places.acquire('a');
      const refused = expect(places.acquire('b')).rejects.toThrow('timeout');
      await vi.advanceTimersByTimeAsync(1000);
      await refused;
      release();
      expect(places.count()).toEqual({ running: 0, waiting: 0 });
      expect(await places.acquire('b')).toBeTypeOf('function');
    });
  });

  test('are never exceeded and never lost, in any order of events', async () => {
    const step = fc.record({ key: fc.constantFrom('a', 'b', 'c', ''), isRelease: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async steps => {
        const places = share({ slots: 3, perKey: 2, maxWaiting: 100, maxWaitingPerKey: 100, priorityKey: '' });
        const held: { key: string; release: Release }[] = [];
        const wanted: Promise<unknown>[] = [];
        for (const { key, isRelease } of steps) {
          if (isRelease) held.shift()?.release();
          else wanted.push(places.acquire(key).then(release => held.push({ key, release })));
          await settle();
          const of = (name: string) => held.filter(one => one.key === name).length;
          expect(held.length).toBe(places.count().running);
          expect(held.length).toBeLessThanOrEqual(3);
          for (const name of ['a', 'b', 'c']) expect(of(name)).toBeLessThanOrEqual(2);
        }
        for (let left = wanted.length; left > 0; left--) {
          held.shift()?.release();
          await settle();
        }
        await Promise.all(wanted);
        while (held.length > 0) held.shift()?.release();
        expect(places.count()).toEqual({ running: 0, waiting: 0 });
      }),
      { numRuns: 100 },
    );
  });
});
