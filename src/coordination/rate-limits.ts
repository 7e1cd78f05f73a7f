import { createHash } from 'node:crypto';
import { createThrottle, type Log } from '../platform/log.ts';
import type { DatabaseUrl, RedisUrl } from '../platform/store-urls.ts';
import type { Counter } from './rate-counter-table.ts';
import { createRateCounters, type PendingVerdict } from './rate-counters.ts';
import { createReconciler } from './rate-reconciler.ts';
import { openDatabaseCounters, openRedisCounters, type StoreDelta } from './rate-stores.ts';
import { type RateLimit, type RateVerdict, verdictOf, windowEnd } from './rate-windows.ts';
import { createStoreClock } from './store-clock.ts';

export type { RateLimit, RateVerdict } from './rate-windows.ts';

/** A decision of the shared store. */
export interface StrictVerdict<Limit extends RateLimit = RateLimit> extends RateVerdict<Limit> {
  /** Subtracts the counted unit, for limits that only count failures. Rejects when the store is down. */
  undo(): Promise<void>;
}

export interface RateLimits {
  /**
   * Counts a request of `key` that costs `cost` units (default 1). Decides it from memory, or near the limit in the
   * shared store, with one round trip: the verdict is then pending. `counted` are units of the same request that were
   * counted before.
   */
  consume<Limit extends RateLimit>(
    limit: Limit,
    key: string,
    cost?: number,
    counted?: number,
  ): RateVerdict<Limit> | PendingVerdict<Limit>;
  /** Counts and decides in the shared store. Rejects when the store is down. For issuing credentials. */
  consumeStrictly<Limit extends RateLimit>(limit: Limit, key: string): Promise<StrictVerdict<Limit>>;
  /** Resets the count of a key's current window in the shared store. Rejects when the store is down. */
  clear(limit: RateLimit, key: string): Promise<void>;
  close(): Promise<void>;
}

export interface RateLimitOptions {
  /** False where limits only count (`RATE_LIMITS=off`): requests then never wait for the store. */
  isEnforced?: boolean;
  /** This machine's clock in milliseconds. Used only between two replies of the store. */
  now?: () => number;
  /** Calls `run` later, unless the returned function is called: the limit of a wait for the store. */
  after?: (ms: number, run: () => void) => () => void;
}

/** How often local counts are added to the store and the totals of all processes are read. */
const RECONCILE_EVERY_MS = 250;
/**
 * Counters below half their limit sync only every 4th round. Most counters are, and each costs CPU here and in the
 * store.
 */
const ALL_EVERY = 4;
const monotonic = (): number => performance.timeOrigin + performance.now();

const startTimer = (ms: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

/**
 * Rate limits shared by all API processes, counted in memory and reconciled in batches.
 *
 * A caller waits for one round trip, shared by all such callers of the process, with less than a tenth of a limit left
 * or more than a tenth unreported by this process. `rate-counters.ts` states the resulting bound. While the store is
 * down, each process decides by its own counts. Windows follow the store's clock.
 */
export function openRateLimits(
  databaseUrl: DatabaseUrl,
  redisUrl: RedisUrl | undefined,
  log: Log,
  { isEnforced = true, now = monotonic, after = startTimer }: RateLimitOptions = {},
): RateLimits {
  const store = redisUrl ? openRedisCounters(redisUrl, log) : openDatabaseCounters(databaseUrl, log);
  const clock = createStoreClock(now);
  const throttle = createThrottle(10_000);

  const add = async (deltas: StoreDelta[]): Promise<number[]> => {
    const sentAt = now();
    const { totals, time } = await store.add(deltas);
    clock.update(time, sentAt, now());
    reconciler.markReachable();
    return totals;
  };

  const counters = createRateCounters({ now: clock.now, mayWait: () => isEnforced && reconciler.isReachable() });
  const reconciler = createReconciler({
    counters,
    add: deltas => add(deltas.map(({ counter, count }) => storeDeltaOf(counter, count))),
    after,
    onFailure: error =>
      throttle('reconcile', () =>
        log.warn({ reason: error.message }, 'rate limit store is unavailable; counting in this process only'),
      ),
  });

  /** The counter of a key in the current window of the store's clock. */
  const currentCounter = async <Limit extends RateLimit>(limit: Limit, key: string) => {
    if (!clock.isKnown()) await add([]);
    return { limit, key, endsAt: windowEnd(limit, clock.now()), isStored: false };
  };

  let closed = false;
  let timer: NodeJS.Timeout;
  let rounds = 0;
  const loop = async () => {
    const everyone = rounds++ % ALL_EVERY === 0;
    await reconciler.reconcile(everyone);
    if (everyone) counters.dropEnded();
    if (closed) return;
    timer = setTimeout(loop, RECONCILE_EVERY_MS);
    timer.unref();
  };
  void loop();

  return {
    consume(limit, key, cost, counted) {
      const verdict = counters.consume(limit, key, cost, counted);
      if ('settled' in verdict) void reconciler.reconcile(false);
      return verdict;
    },
    async consumeStrictly(limit, key) {
      const counter = await currentCounter(limit, key);
      const [total = 1] = await add([storeDeltaOf(counter, 1)]);
      return {
        ...verdictOf(limit, total, total <= limit.limit, counter.endsAt - clock.now()),
        undo: async () => void (await add([storeDeltaOf(counter, -1)])),
      };
    },
    async clear(limit, key) {
      const counter = await currentCounter(limit, key);
      const [total = 0] = await add([storeDeltaOf(counter, 0)]);
      await add([storeDeltaOf(counter, -total)]); // concurrent additions stay
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      reconciler.close();
      await store.close();
    },
  };
}

/** A counter's delta as the store receives it, with a digest in place of the identity or key. */
function storeDeltaOf(
  { limit, key, endsAt, isStored }: Pick<Counter, 'limit' | 'key' | 'endsAt' | 'isStored'>,
  count: number,
): StoreDelta {
  const name = `${limit.scope}\n${endsAt}\n${key}`;
  const digest = createHash('sha256').update(name).digest('base64url').slice(0, 27);
  return { key: digest, count, expiresAt: new Date(endsAt), needsExpiry: !isStored };
}
