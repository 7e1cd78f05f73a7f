import type { Cache } from '../../platform/caches.ts';

/** A cached key, and the period of uninterrupted notices in which it was read. */
export interface CachedKey<Key> {
  key: Key;
  period: number;
}

export interface KeyCacheOptions<Key> {
  keys: Cache<string, CachedKey<Key>>;
  /** Ids without a key, with the time until which that is assumed. */
  unknown: Cache<string, number>;
  /** Reads the key of an id; `undefined` when there is none. */
  read(id: string): Promise<Key | undefined>;
  now: () => number;
}

/** Keys by id in memory, as read in the current period of uninterrupted notices or before. */
export interface KeyCache<Key> {
  /** Returns a cached key, current or not. Counts no lookup. */
  peek(id: string): CachedKey<Key> | undefined;
  /** Whether every change since the key was read has been announced to this process. */
  isCurrent(cached: CachedKey<Key>): boolean;
  /** Counts a lookup in the cache. */
  count(isHit: boolean): void;
  /** Reads a key, once for all concurrent callers; `undefined` when there is none. */
  fetch(id: string): Promise<Key | undefined>;
  /** Drops a key that has changed. A read in progress is then not cached. */
  drop(id: string): void;
  /** Starts a new period after a gap in the notices: every key has to be read again to be current. */
  startPeriod(): void;
}

/** How long an unknown key id is cached, so that one made-up token does not cause many queries. */
const UNKNOWN_TTL_MS = 30_000;

/** Creates an empty cache. Reads a key only in `fetch`. */
export function createKeyCache<Key>({ keys, unknown, read, now }: KeyCacheOptions<Key>): KeyCache<Key> {
  /** Keys being read. A change removes them, so that no outdated key is cached. */
  const loading = new Map<string, Promise<Key | undefined>>();
  let period = 0;

  const remember = (id: string, key: Key | undefined): void => {
    if (key) keys.set(id, { key, period });
    else {
      keys.delete(id);
      unknown.set(id, now() + UNKNOWN_TTL_MS);
    }
  };

  const load = (id: string): Promise<Key | undefined> => {
    const reading = read(id)
      .then(key => {
        if (loading.get(id) === reading) remember(id, key);
        return key;
      })
      .finally(() => {
        if (loading.get(id) === reading) loading.delete(id);
      });
    loading.set(id, reading);
    return reading;
  };

  return {
    peek: id => keys.peek(id),
    isCurrent: cached => cached.period === period,
    count: isHit => keys.count(isHit),
    async fetch(id) {
      const isUnknown = (unknown.peek(id) ?? 0) > now();
      unknown.count(isUnknown);
      return isUnknown ? undefined : (loading.get(id) ?? load(id));
    },
    drop(id) {
      keys.delete(id);
      loading.delete(id);
      unknown.delete(id);
    },
    startPeriod() {
      period++;
      loading.clear();
      unknown.clear();
    },
  };
}
