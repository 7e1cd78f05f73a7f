import { describe, expect, test } from 'vitest';
import { type CachedKey, createKeyCache } from '../../src/api/credentials/key-cache.ts';
import { createCaches } from '../../src/platform/caches.ts';

const settle = () => new Promise(resolve => setImmediate(resolve));

/** A cache whose reads end when the test lets them. */
function createCache() {
  const at = { ms: 0 };
  const caches = createCaches();
  const reads: { id: string; end(key: string | undefined): Promise<void>; fail(): Promise<void> }[] = [];
  const cache = createKeyCache<string>({
    keys: caches.create<string, CachedKey<string>>('keys', { sizeOf: () => 100 }),
    unknown: caches.create<string, number>('unknown_keys', { sizeOf: () => 60, isExpired: until => until <= at.ms }),
    read: id =>
      new Promise((resolve, reject) =>
        reads.push({
          id,
          async end(key) {
            resolve(key);
            await settle();
          },
          async fail() {
            reject(new Error('no database'));
            await settle();
          },
        }),
      ),
    now: () => at.ms,
  });
  const fetch = async (key: string | undefined) => {
    const fetched = cache.fetch('k');
    await reads.at(-1)?.end(key);
    return fetched;
  };
  const isCurrent = () => {
    const known = cache.peek('k');
    return known && cache.isCurrent(known);
  };
  return { at, cache, reads, fetch, isCurrent };
}

describe('a key', () => {
  test('is read once for all concurrent callers, and then cached', async () => {
    const { cache, reads, isCurrent } = createCache();
    const fetched = [cache.fetch('k'), cache.fetch('k')];
    expect(reads.map(({ id }) => id)).toEqual(['k']);
    await reads[0]?.end('secret');
    expect(await Promise.all(fetched)).toEqual(['secret', 'secret']);
    expect([cache.peek('k')?.key, isCurrent()]).toEqual(['secret', true]);
  });

  test('that has changed is dropped', async () => {
    const { cache, fetch } = createCache();
    await fetch('old');
    cache.drop('other');
    expect(cache.peek('k')?.key).toBe('old');
    cache.drop('k');
    expect(cache.peek('k')).toBeUndefined();
  });

  test('that changes while it is read is not cached, and a later caller reads it again', async () => {
    const { cache, reads } = createCache();
    const before = cache.fetch('k');
    cache.drop('k');
    const after = cache.fetch('k');
    expect(reads).toHaveLength(2);
    await reads[1]?.end('new');
    await reads[0]?.end('old');
    expect(await Promise.all([before, after])).toEqual(['old', 'new']);
    expect(cache.peek('k')?.key).toBe('new');
  });

  test('is not read a third time when the outdated read ends', async () => {
    const { cache, reads } = createCache();
    void cache.fetch('k');
    cache.drop('k');
    const after = [cache.fetch('k')];
    await reads[0]?.end('old');
    after.push(cache.fetch('k'));
    expect(reads).toHaveLength(2);
    await reads[1]?.end('new');
    expect([await Promise.all(after), cache.peek('k')?.key]).toEqual([['new', 'new'], 'new']);
  });

  test('is not current after a gap in the notices, until it is read again', async () => {
    const { cache, fetch, isCurrent } = createCache();
    await fetch('a');
    cache.startPeriod();
    expect([cache.peek('k')?.key, isCurrent()]).toEqual(['a', false]);
    await fetch('b');
    expect([cache.peek('k')?.key, isCurrent()]).toEqual(['b', true]);
  });

  test('that is being read during a gap is not cached', async () => {
    const { cache, reads } = createCache();
    const fetched = cache.fetch('k');
    cache.startPeriod();
    await reads[0]?.end('a');
    expect(await fetched).toBe('a');
    expect(cache.peek('k')).toBeUndefined();
  });

  test('whose read fails is read again by the next caller, and the cached one stays', async () => {
    const { cache, reads, fetch } = createCache();
    await fetch('a');
    const failed = cache.fetch('k').catch(error => error);
    await reads[1]?.fail();
    expect(await failed).toMatchObject({ message: 'no database' });
    expect(cache.peek('k')?.key).toBe('a');
    void cache.fetch('k');
    expect(reads).toHaveLength(3);
  });
});

describe('an id without a key', () => {
  test('is not read again for 30 s', async () => {
    const { at, reads, fetch, cache } = createCache();
    expect(await fetch(undefined)).toBeUndefined();
    at.ms = 29_999;
    expect([await cache.fetch('k'), reads.length]).toEqual([undefined, 1]);
    at.ms = 30_000;
    void cache.fetch('k');
    expect(reads).toHaveLength(2);
  });

  test('replaces a cached key', async () => {
    const { cache, fetch } = createCache();
    await fetch('a');
    cache.startPeriod();
    await fetch(undefined);
    expect(cache.peek('k')).toBeUndefined();
  });

  test('is read again after a change, and after a gap in the notices', async () => {
    const { cache, reads, fetch } = createCache();
    await fetch(undefined);
    cache.drop('k');
    await fetch(undefined);
    cache.startPeriod();
    void cache.fetch('k');
    expect(reads).toHaveLength(3);
  });
});
