import { setImmediate as turn } from 'node:timers/promises';
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
function createCache() {
  const cache = createCardCache(createCaches());
  const build = (list: CachedList, make = async () => list) => cache.build('digest', list.user, list, NOW, make);
  return { ...cache, buildList: build };
}

describe('a card list', () => {
  test('is found for its user until it expires or the live questions change', async () => {
    const cache = createCache();
    const list = aList();
    await cache.buildList(list);
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
  ])('is dropped when %s, and not cached if it was being built', async (_, change) => {
    const cache = createCache();
    await cache.buildList(aList());
    const building = cache.buildList(aList());
    change(cache);
    expect(cache.find('digest', aList().user, { liveDigest: 'a', context: '' }, NOW)).toBeUndefined();
    await building;
    expect(cache.find('digest', aList().user, { liveDigest: 'a', context: '' }, NOW)).toBeUndefined();
  });

  test('is built once for requests of its user at the same time, and again after a change or a failure', async () => {
    const cache = createCache();
    let built = 0;
    const build = (fields: Partial<CachedList> = {}, fails = false) =>
      cache.buildList(aList(fields), async () => {
        built++;
        await turn();
        if (fails) throw new Error('away');
        return aList({ ...fields, tag: `build ${built}` });
      });
    const lists = await Promise.all(Array.from({ length: 64 }, () => build()));
    expect(new Set(lists)).toEqual(new Set([lists[0]]));
    expect(built).toBe(1);
    const [before] = [build(), cache.remove(['digest'])];
    const [, after] = await Promise.all([before, build()]);
    expect(built).toBe(3);
    expect(cache.find('digest', after.user, after, NOW)).toBe(after);
    const others: Partial<CachedList>[] = [{ user: 'tenant user|2' }, { context: 'c' }, { liveDigest: 'b' }];
    await Promise.all(others.map(fields => build(fields)));
    expect(built).toBe(6);
    for (const _ of [1, 2]) await expect(build({}, true)).rejects.toThrow('away');
    expect(built).toBe(8);
  });

  test('is kept for at most four contexts of a user, all of which a change removes', async () => {
    const cache = createCache();
    const find = (context: string) => cache.find('digest', aList().user, { liveDigest: 'a', context }, NOW)?.tag;
    for (let number = 0; number < 10_000; number++)
      await cache.buildList(aList({ context: `c${number}`, tag: `tag ${number}` }));
    expect([9999, 9998, 9997, 9996, 9995].map(number => find(`c${number}`))).toEqual([
      ...['tag 9999', 'tag 9998', 'tag 9997', 'tag 9996'],
      undefined,
    ]);
    cache.remove(['digest']);
    expect(find('c9999')).toBeUndefined();
  });
});
