import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createFairShare, type FairShareOptions, type Release } from '../../src/platform/fair-share.ts';

const refuse = (reason: string) => new Error(reason);

const share = (options: Partial<FairShareOptions> = {}) =>
  createFairShare({ slots: 4, perKey: 3, maxWaitingPerKey: 5, maxWaiting: 8, maxWaitMs: 1000, refuse, ...options });

/** Lets all settled promises run their reactions. */
const settle = () => new Promise(resolve => setImmediate(resolve));

describe('shared slots', () => {
  test('are granted immediately while available, and never all of them to one key', () => {
    const places = share();
    const taken = Array.from({ length: 3 }, () => places.acquire('noisy'));
    expect(taken.every(one => typeof one === 'function')).toBe(true);
    expect(places.acquire('noisy')).toBeInstanceOf(Promise);
    expect(places.acquire('quiet')).toBeTypeOf('function');
    expect(places.count()).toEqual({ running: 4, waiting: 1 });
  });

  test('are granted to keys in turn, however many requests of one key wait', async () => {
    const places = share({ slots: 1, perKey: 1 });
    const order: string[] = [];
    const visit = (key: string) => places.run(key, async () => void order.push(key));
    const held = places.acquire('first') as Release;
    const visits = ['a', 'a', 'a', 'b', 'c'].map(visit);
    held();
    await Promise.all(visits);
    expect(order).toEqual(['a', 'b', 'c', 'a', 'a']);
  });

  test('are rejected immediately for keys with too many waiting requests', () => {
    const places = share({ slots: 1, perKey: 1, maxWaitingPerKey: 2, maxWaiting: 3 });
    places.acquire('a');
    const waiting = [places.acquire('a'), places.acquire('a'), places.acquire('b')];
    expect(waiting.every(one => one instanceof Promise)).toBe(true);
    expect(() => places.acquire('a')).toThrow('full');
    expect(() => places.acquire('c')).toThrow('full');
    expect(places.count()).toEqual({ running: 1, waiting: 3 });
  });

  test('are granted to the priority key first, beyond the share of one key', async () => {
    const places = share({ slots: 2, perKey: 1, priorityKey: 'lookups' });
    const held = [places.acquire('lookups'), places.acquire('lookups')] as Release[];
    const order: string[] = [];
    const waiting = ['a', 'b', 'lookups'].map(key => places.run(key, async () => void order.push(key)));
    held[0]?.();
    await Promise.all(waiting);
    expect(order[0]).toBe('lookups');
  });

  test('are released after work that throws, and only once', async () => {
    const places = share({ slots: 1, perKey: 1 });
    await expect(places.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    const release = places.acquire('a') as Release;
    release();
    release();
    expect(places.count()).toEqual({ running: 0, waiting: 0 });
  });

  describe('that do not become free', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
    afterEach(() => void vi.useRealTimers());

    test('are awaited no longer than the limit', async () => {
      const places = share({ slots: 1, perKey: 1 });
      const release = places.acquire('a') as Release;
      const refused = expect(places.acquire('b')).rejects.toThrow('timeout');
      await vi.advanceTimersByTimeAsync(1000);
      await refused;
      release();
      expect(places.count()).toEqual({ running: 0, waiting: 0 });
      expect(places.acquire('b')).toBeTypeOf('function');
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
          else wanted.push(Promise.resolve(places.acquire(key)).then(release => held.push({ key, release })));
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
