import { LRUCache } from 'lru-cache';
import type { Metrics } from './metrics.ts';

/** The part of `CACHE_MB` that each cache of an API process may use. */
const SHARES = {
  /** Card lists by user (`api/cache/card-deck.ts`). */
  card_lists: 0.28,
  /** Questions, current versions and deleted ids by tenant (`api/cache/catalog.ts`). */
  catalogs: 0.25,
  /** Verified access tokens (`api/credentials/token-verifier.ts`). */
  tokens: 0.15,
  /** Recent syncs of answers (`api/cache/sync-memory.ts`). */
  syncs: 0.12,
  /** API keys, and ids that are not a key's (`api/credentials/key-ring.ts`). */
  keys: 0.1,
  unknown_keys: 0.01,
  /** Card ids by user and question (`api/cache/card-ids.ts`). */
  card_ids: 0.05,
  /** Rules of earlier question versions that an answer named (`api/cache/version-lookup.ts`). */
  question_versions: 0.02,
  /** Parsed ids (`domain/ids.ts`). */
  ids: 0.02,
} as const;

export type CacheName = keyof typeof SHARES;

const BYTES_A_MB = 1024 * 1024;
const DEFAULT_MB = 64;

/** What a cache reports to its metrics. Counts only ever grow. */
export interface CacheFigures {
  bytes: number;
  entries: number;
  hits: number;
  misses: number;
  evictions: number;
}

/** A cache bounded in bytes. Lookups do not count as use: the entry that was set first is evicted first (decision 15). */
export interface Cache<Key, Value> {
  peek(key: Key): Value | undefined;
  /** Counts a lookup. A hit is an entry that the caller could use, not just one that was there. */
  count(isHit: boolean): void;
  /** Keeps a value, evicting the oldest ones to make room. A value larger than the whole cache is not kept. */
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  clear(): void;
  values(): Iterable<Value>;
}

export interface CacheOptions<Key, Value> {
  /** The estimated bytes of an entry, with its key and without the overhead of the cache itself. */
  sizeOf(value: Value, key: Key): number;
  /** Whether a value is of no more use. Each `set` drops up to two such entries, oldest first. */
  isExpired?(value: Value): boolean;
  /** Keeps a value that is larger than the whole cache, alone, instead of none. It is counted as the whole cache. */
  keepsOversized?: boolean;
}

/**
 * A cache bounded in bytes that keeps no order: when the younger of two generations fills half of it, the older one is
 * dropped whole. For entries that are set at every request and hardly ever found again (decision 15).
 */
export interface Generations<Key, Value> {
  /** The value in either generation. */
  find(key: Key): Value | undefined;
  /** The value in the younger generation. */
  findYoung(key: Key): Value | undefined;
  /** Keeps a value of so many bytes in the younger generation. */
  set(key: Key, value: Value, bytes: number): void;
  /** Makes room for bytes by which a value in the younger generation is going to grow, and counts them. */
  grow(bytes: number): void;
  /** Counts a lookup. */
  count(isHit: boolean): void;
}

/** Divides the memory for caches among them, and reports how each uses its share. */
export interface Caches {
  /** The bytes that a cache may hold. */
  limitOf(name: CacheName): number;
  create<Key extends {}, Value extends {}>(name: CacheName, options: CacheOptions<Key, Value>): Cache<Key, Value>;
  createGenerations<Key, Value>(name: CacheName): Generations<Key, Value>;
  /** Adds the figures of a cache that keeps to `limitOf` on its own. */
  watch(name: CacheName, figures: () => CacheFigures): void;
}

/** Heap bytes of an entry in an `LRUCache` beyond its key and value: a slot in a map and in five arrays. */
const SLOT_BYTES = 100;
/** How many expired entries a `set` drops, so that a cache does not fill up with them. */
const SWEEP_AT_MOST = 2;

const isWide = (text: string): boolean => /[^\0-\xff]/.test(text);

/** Estimated heap bytes of a string: V8 stores 2 bytes a character as soon as one is beyond Latin-1. */
export const textBytes = (text: string): number => 16 + 8 * Math.ceil((text.length * (isWide(text) ? 2 : 1)) / 8);

/** Caches that together use at most `megabytes`, with their figures in `metrics` at each scrape. */
export function createCaches(megabytes = DEFAULT_MB, metrics?: Metrics): Caches {
  const watched = new Map<CacheName, () => CacheFigures>();
  const limitOf = (name: CacheName) => Math.floor(megabytes * BYTES_A_MB * SHARES[name]);
  metrics?.onScrape(createReport(watched, limitOf, metrics));
  return {
    limitOf,
    watch: (name, figures) => void watched.set(name, figures),
    create(name, options) {
      const { cache, figures } = createCache(limitOf(name), options);
      watched.set(name, figures);
      return cache;
    },
    createGenerations<Key, Value>(name: CacheName) {
      const { generations, figures } = createGenerations<Key, Value>(limitOf(name));
      watched.set(name, figures);
      return generations;
    },
  };
}

function createGenerations<Key, Value>(
  limit: number,
): {
  generations: Generations<Key, Value>;
  figures(): CacheFigures;
} {
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();
  let youngBytes = 0;
  let oldBytes = 0;
  const counts = { hits: 0, misses: 0, evictions: 0 };

  const makeRoom = (bytes: number): void => {
    if (youngBytes + bytes <= limit / 2) return;
    counts.evictions += old.size;
    [old, oldBytes] = [young, youngBytes];
    [young, youngBytes] = [new Map(), 0];
  };

  return {
    generations: {
      find: key => young.get(key) ?? old.get(key),
      findYoung: key => young.get(key),
      set(key, value, bytes) {
        makeRoom(bytes);
        youngBytes += bytes;
        young.set(key, value);
      },
      grow(bytes) {
        makeRoom(bytes);
        youngBytes += bytes;
      },
      count(isHit) {
        if (isHit) counts.hits++;
        else counts.misses++;
      },
    },
    figures: () => ({ bytes: youngBytes + oldBytes, entries: young.size + old.size, ...counts }),
  };
}

function createCache<Key extends {}, Value extends {}>(
  maxSize: number,
  { sizeOf, isExpired, keepsOversized = false }: CacheOptions<Key, Value>,
): { cache: Cache<Key, Value>; figures(): CacheFigures } {
  let hits = 0;
  let misses = 0;
  let evictions = 0;
  const entries = new LRUCache<Key, Value>({
    maxSize,
    sizeCalculation: (value, key) => {
      const bytes = SLOT_BYTES + sizeOf(value, key);
      return keepsOversized ? Math.min(bytes, maxSize) : bytes;
    },
    dispose: (_, __, reason) => {
      if (reason === 'evict') evictions++;
    },
  });

  const sweep = (expired: (value: Value) => boolean): void => {
    let swept = 0;
    for (const key of entries.rkeys()) {
      const value = entries.peek(key);
      if (swept++ >= SWEEP_AT_MOST || value === undefined || !expired(value)) return;
      entries.delete(key);
    }
  };

  return {
    cache: {
      peek: key => entries.peek(key),
      count(isHit) {
        if (isHit) hits++;
        else misses++;
      },
      set(key, value) {
        if (isExpired) sweep(isExpired);
        entries.set(key, value);
      },
      delete: key => void entries.delete(key),
      clear: () => entries.clear(),
      values: () => entries.values(),
    },
    figures: () => ({ bytes: entries.calculatedSize, entries: entries.size, hits, misses, evictions }),
  };
}

/** Sets the series of every watched cache; counters advance by what was counted since the scrape before. */
function createReport(
  watched: ReadonlyMap<CacheName, () => CacheFigures>,
  limitOf: (name: CacheName) => number,
  metrics: Metrics,
): () => Promise<void> {
  const reported = new Map<CacheName, CacheFigures>();
  return async () => {
    for (const [cache, figures] of watched) {
      const now = figures();
      const before = reported.get(cache) ?? { hits: 0, misses: 0, evictions: 0 };
      metrics.cacheBytes.set({ cache }, now.bytes);
      metrics.cacheLimit.set({ cache }, limitOf(cache));
      metrics.cacheEntries.set({ cache }, now.entries);
      metrics.cacheLookups.inc({ cache, result: 'hit' }, now.hits - before.hits);
      metrics.cacheLookups.inc({ cache, result: 'miss' }, now.misses - before.misses);
      metrics.cacheEvictions.inc({ cache }, now.evictions - before.evictions);
      reported.set(cache, now);
    }
  };
}
