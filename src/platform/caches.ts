import { LRUCache } from 'lru-cache';
import type { Metrics } from './metrics.ts';

/** The fraction of `CACHE_MB` that each cache of an API process may use. */
const SHARES = {
  /** Card lists by user (`api/cache/card-lists.ts`). */
  card_lists: 0.28,
  /** Questions, current versions and deleted ids by tenant (`api/cache/catalog.ts`). */
  catalogs: 0.25,
  /** Verified access tokens (`api/credentials/token-verifier.ts`). */
  tokens: 0.15,
  /** Recent syncs of answers (`api/cache/sync-memory.ts`). */
  syncs: 0.12,
  /** API keys, and ids without a key (`api/credentials/key-ring.ts`). */
  keys: 0.1,
  unknown_keys: 0.01,
  /** Card ids by user and question (`api/cache/card-ids.ts`). */
  card_ids: 0.05,
  /** Rules of earlier question versions used by answers (`api/cache/version-lookup.ts`). */
  question_versions: 0.02,
  /** Parsed ids (`domain/ids.ts`). */
  ids: 0.02,
} as const;

export type CacheName = keyof typeof SHARES;

const BYTES_A_MB = 1024 * 1024;
const DEFAULT_MB = 64;

/** Figures of a cache for its metrics. Counts only increase. */
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
  /** Counts a lookup. A hit is an entry that the caller could use, not just one that exists. */
  count(isHit: boolean): void;
  /** Stores a value, evicting the oldest ones if needed. A value larger than the whole cache is not stored. */
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  clear(): void;
  values(): Iterable<Value>;
}

export interface CacheOptions<Key, Value> {
  /** Estimated bytes of an entry, including its key and excluding the cache's overhead. */
  sizeOf(value: Value, key: Key): number;
  /** Whether a value is obsolete. Each `set` drops up to two such entries, oldest first. */
  isExpired?(value: Value): boolean;
  /**
   * Stores a value larger than the whole cache as its only entry, instead of dropping it. It is counted as the whole
   * cache.
   */
  keepsOversized?: boolean;
}

/**
 * A cache bounded in bytes without ordering: when the younger of two generations fills half of it, the older one is
 * dropped as a whole. For entries that are set with every request and rarely found again (decision 15).
 */
export interface Generations<Key, Value> {
  /** Returns the value in either generation. */
  find(key: Key): Value | undefined;
  /** Returns the value in the younger generation. */
  findYoung(key: Key): Value | undefined;
  /** Stores a value of that many bytes in the younger generation. */
  set(key: Key, value: Value, bytes: number): void;
  /** Reserves bytes by which a value in the younger generation is about to grow. */
  grow(bytes: number): void;
  /** Counts a lookup. */
  count(isHit: boolean): void;
}

/** Divides the cache memory among the caches, and reports how each uses its share. */
export interface Caches {
  /** Returns the bytes that a cache may use. */
  limitOf(name: CacheName): number;
  create<Key extends {}, Value extends {}>(name: CacheName, options: CacheOptions<Key, Value>): Cache<Key, Value>;
  createGenerations<Key, Value>(name: CacheName): Generations<Key, Value>;
  /** Adds the figures of a cache that enforces `limitOf` separately. */
  watch(name: CacheName, figures: () => CacheFigures): void;
}

/** Heap bytes of an `LRUCache` entry besides key and value: a slot in a map and in five arrays. */
const SLOT_BYTES = 100;
/** Expired entries that one `set` drops, so that a cache does not fill up with them. */
const SWEEP_AT_MOST = 2;

const isWide = (text: string): boolean => /[^\0-\xff]/.test(text);

/** Estimated heap bytes of a string. V8 uses 2 bytes per character once one is beyond Latin-1. */
export const textBytes = (text: string): number => 16 + 8 * Math.ceil((text.length * (isWide(text) ? 2 : 1)) / 8);

/** Creates caches that together use at most `megabytes`, with their figures in `metrics` at each scrape. */
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

/** Sets the series of every watched cache. Counters advance by the difference since the previous scrape. */
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
