import { describe, expect, test } from 'vitest';
import { type CachedList, createCardCache } from '../../src/api/cache/card-cache.ts';
import { createCaches } from '../../src/platform/caches.ts';

const NOW = 1_000_000;
const aList = (fields: Partial<CachedList> = {}): CachedList => ({
  user: 'tenant user|1',
  liveDigest: 'a',
  positions: [0],
  ids: '0'.repeat(26),
  profileLocale: null,
  attributes: {},
  preferred: '',
  locales: 'en',
  personal: null,
  tag: 'tag',
  context: '',
  other: null,
  validUntil: NOW + 60_000,
  ...fields,
});
const createCache = () => createCardCache(createCaches());

describe('a card list', () => {
  test('is found for its user until it expires or the live questions change', () => {
    const cache = createCache();
    const list = aList();
    cache.begin('digest', NOW).keep(list);
    const find = (user: string, liveDigest: string, now: number) =>
      cache.find('digest', user, { liveDigest, context: '' }, now);
    expect(find(list.user, 'a', NOW)).toEqual(list);
    expect(find(list.user, 'a', list.validUntil - 1)).toEqual(list);
    expect(find(list.user, 'a', list.validUntil)).toBeUndefined();
    expect(find(list.user, 'b', NOW)).toBeUndefined();
    expect(find('tenant user|2', 'a', NOW)).toBeUndefined(); // with the same digest
  });

  test.each([
    ['its records changed', (cache: ReturnType<typeof createCache>) => cache.remove(['digest'])],
    ['changes may have been missed', (cache: ReturnType<typeof createCache>) => cache.clear()],
  ])('is dropped when %s, and not cached if it was being built', (_, change) => {
    const cache = createCache();
    cache.begin('digest', NOW).keep(aList());
    const build = cache.begin('digest', NOW);
    change(cache);
    expect(cache.find('digest', aList().user, { liveDigest: 'a', context: '' }, NOW)).toBeUndefined();
    build.keep(aList());
    build.end();
    expect(cache.find('digest', aList().user, { liveDigest: 'a', context: '' }, NOW)).toBeUndefined();
  });

  test('is not cached by a build that a later one has overtaken', () => {
    const cache = createCache();
    const [first, second] = [cache.begin('digest', NOW), cache.begin('digest', NOW)];
    second.keep(aList({ tag: 'second' }));
    first.keep(aList({ tag: 'first' }));
    first.end();
    expect(cache.find('digest', aList().user, { liveDigest: 'a', context: '' }, NOW)?.tag).toBe('second');
  });

  test('is kept for at most four contexts of a user, all of which a change removes', () => {
    const cache = createCache();
    const find = (context: string) => cache.find('digest', aList().user, { liveDigest: 'a', context }, NOW)?.tag;
    for (let number = 0; number < 10_000; number++)
      cache.begin('digest', NOW).keep(aList({ context: `c${number}`, tag: `tag ${number}` }));
    expect([9999, 9998, 9997, 9996, 9995].map(number => find(`c${number}`))).toEqual([
      ...['tag 9999', 'tag 9998', 'tag 9997', 'tag 9996'],
      undefined,
    ]);
    cache.remove(['digest']);
    expect(find('c9999')).toBeUndefined();
  });
});
