import { expect, test } from 'vitest';
import { createCaches, textBytes } from '../../src/platform/caches.ts';
import { createMetrics } from '../../src/platform/metrics.ts';

const KB = 1024;

/** Caches of 16 MB, and the metrics of one of them. */
function open() {
  const metrics = createMetrics('serve');
  const caches = createCaches(16, metrics);
  const linesOf = async (cache: string) =>
    (await metrics.render())
      .split('\n')
      .filter(line => line.includes(`cache="${cache}"`))
      .sort();
  return { caches, linesOf };
}

test('a cache evicts the oldest entry, regardless of lookups, and stays within its bytes', async () => {
  const { caches, linesOf } = open();
  const limit = caches.limitOf('tokens');
  const cache = caches.create<number, string>('tokens', { sizeOf: () => 100 * KB });
  for (let key = 0; key < 100; key++) {
    cache.set(key, 'value');
    cache.count(cache.peek(0) !== undefined);
  }
  const kept = Array.from({ length: 100 }, (_, key) => key).filter(key => cache.peek(key) !== undefined);
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => 100 - kept.length + index));
  expect(kept.length).toBe(Math.floor(limit / (100 * KB + 100)));
  expect(await linesOf('tokens')).toEqual([
    `parley_cache_bytes{cache="tokens"} ${kept.length * (100 * KB + 100)}`,
    `parley_cache_entries{cache="tokens"} ${kept.length}`,
    `parley_cache_evictions_total{cache="tokens"} ${100 - kept.length}`,
    `parley_cache_limit_bytes{cache="tokens"} ${limit}`,
    `parley_cache_lookups_total{cache="tokens",result="hit"} ${kept.length}`,
    `parley_cache_lookups_total{cache="tokens",result="miss"} ${100 - kept.length}`,
  ]);
  expect((await linesOf('tokens')).filter(line => line.includes('_total'))).toEqual([
    `parley_cache_evictions_total{cache="tokens"} ${100 - kept.length}`,
    `parley_cache_lookups_total{cache="tokens",result="hit"} ${kept.length}`,
    `parley_cache_lookups_total{cache="tokens",result="miss"} ${100 - kept.length}`,
  ]); // a scrape does not count twice
});

test('a value larger than its cache is not kept, evicts no other, and removes the one under its key', () => {
  const { caches } = open();
  const sizes: Record<string, number> = { small: KB, huge: 20 * KB * KB };
  const cache = caches.create<string, string>('tokens', { sizeOf: value => sizes[value] as number });
  cache.set('a', 'small');
  cache.set('b', 'small');
  cache.set('b', 'huge');
  expect([cache.peek('a'), cache.peek('b')]).toEqual(['small', undefined]);
});

test('a cache for oversized values keeps a single one, and counts it as the whole cache', async () => {
  const { caches, linesOf } = open();
  const cache = caches.create<string, string>('catalogs', { sizeOf: () => 20 * KB * KB, keepsOversized: true });
  cache.set('a', 'one');
  cache.set('b', 'two');
  expect([cache.peek('a'), cache.peek('b')]).toEqual([undefined, 'two']);
  expect(await linesOf('catalogs')).toContain(`parley_cache_bytes{cache="catalogs"} ${caches.limitOf('catalogs')}`);
});

test('generations stay within their bytes, even if one value grows without bound', async () => {
  const { caches, linesOf } = open();
  const limit = caches.limitOf('card_ids');
  const generations = caches.createGenerations<string, string[]>('card_ids');
  const bytes = async () => Number((await linesOf('card_ids'))[0]?.split(' ')[1]);
  let list: string[] | undefined;
  for (let step = 0; step < 5000; step++) {
    generations.grow(KB);
    list = generations.findYoung('one');
    if (!list) generations.set('one', [], KB);
  }
  expect(await bytes()).toBeLessThanOrEqual(limit);
  for (let step = 0; step < 5000; step++) generations.set(`user ${step}`, [], KB);
  expect(await bytes()).toBeLessThanOrEqual(limit);
  const found = Array.from({ length: 5000 }, (_, step) => step).filter(step => generations.find(`user ${step}`));
  expect(found.length).toBeGreaterThanOrEqual(Math.floor(limit / KB / 2) - 1);
  expect(found.at(-1)).toBe(4999);
});

test('the shares of all caches add up to the setting', () => {
  for (const megabytes of [16, 64, 1000]) {
    const { limitOf } = createCaches(megabytes);
    const names = [
      'card_lists',
      'catalogs',
      'tokens',
      'syncs',
      'keys',
      'unknown_keys',
      'card_ids',
      'question_versions',
    ];
    const sum = [...names, 'ids'].reduce((total, name) => total + limitOf(name as Parameters<typeof limitOf>[0]), 0);
    expect(sum / (megabytes * KB * KB)).toBeGreaterThan(0.9999);
    expect(sum).toBeLessThanOrEqual(megabytes * KB * KB);
  }
});

test('a text with a character outside Latin-1 counts 2 bytes per character', () => {
  expect([textBytes(''), textBytes('é'.repeat(100)), textBytes(`${'e'.repeat(99)}☕`)]).toEqual([16, 120, 216]);
});
