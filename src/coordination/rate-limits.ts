import { createHash } from 'node:crypto';
import { createGroupCommit } from '../platform/group-commit.ts';
import { createThrottle, type Log } from '../platform/log.ts';
import type { DatabaseUrl, RedisUrl } from '../platform/store-urls.ts';
import {
  type Batch,
  type Counter,
  createCounter,
  createRateCounters,
  type PendingVerdict,
  type RateLimit,
  type RateVerdict,
  verdictOf,
  windowEnd,
} from './rate-counters.ts';
import { type CounterStore, openDatabaseCounters, openRedisCounters, type StoreDelta } from './rate-stores.ts';

export type { RateLimit, RateVerdict } from './rate-counters.ts';

export type RateLimits = ReturnType<typeof createRateLimits>;

export interface RateLimitOptions {
  /** False where limits only count (`RATE_LIMITS=off`): requests then never wait for the store. */
  isEnforced?: boolean;
  /** This machine's clock in milliseconds. Used only between two replies of the store. */
  now?: () => number;
  /** How long a request waits for the store's total before this process decides by its own count. */
  maxWaitMs?: number;
}

/** How often local counts are added to the store and the totals of all processes are read. */
const SEND_EVERY_MS = 250;
/** Counters below half their limit are in every 4th batch only: most are, and each costs CPU here and in the store. */
const MIN_USES = [0, 0.5, 0.5, 0.5];
const MAX_WAIT_MS = 300;
/** A reply that contradicts the estimate of the store's clock by less is only late. */
const CLOCK_TOLERANCE_MS = 1000;
/** Maximum number of additions to strict limits in one round trip. */
const MOST_ADDITIONS = 500;
const monotonic = (): number => performance.timeOrigin + performance.now();

/** Opens the rate limits of an installation: in Valkey or Redis if there is one, otherwise in PostgreSQL. */
export function openRateLimits(
  databaseUrl: DatabaseUrl,
  redisUrl: RedisUrl | undefined,
  log: Log,
  options?: RateLimitOptions,
): RateLimits {
  const throttle = createThrottle(10_000);
  const onError = (error: Error) =>
    throttle('store', () =>
      log.warn({ reason: error.message }, 'rate limit store is unavailable; counting in this process only'),
    );
  const store = redisUrl ? openRedisCounters(redisUrl, onError) : openDatabaseCounters(databaseUrl, onError);
  return createRateLimits(store, onError, options);
}

/** Adds to the store. Estimates its clock from its replies, so that all processes use the same windows. */
function createStoreLink(store: CounterStore, now: () => number) {
  let offset: number | undefined;
  const link = {
    /** Whether the store has accepted the last units in time. */
    isReachable: false,
    isClockKnown: () => offset !== undefined,
    /** The store's time in milliseconds; local time until its first reply. */
    now: () => now() + (offset ?? 0),
    async add(deltas: StoreDelta[]): Promise<number[]> {
      const { totals, time } = await store.add(deltas);
      const measured = time - now();
      if (offset === undefined || Math.abs(measured - offset) > CLOCK_TOLERANCE_MS) offset = measured;
      link.isReachable = true;
      return totals;
    },
  };
  return link;
}

/**
 * Creates rate limits shared by all processes of a store, counted in memory and sent in batches.
 *
 * A caller waits for one round trip, shared by all such callers of the process, with less than a tenth of a limit left
 * or more than a tenth unreported by this process. `rate-counters.ts` states the resulting bound. While the store is
 * down, each process decides by its own counts. `onError` gets the error of each failed batch.
 */
export function createRateLimits(
  store: CounterStore,
  onError: (error: Error) => void,
  { isEnforced = true, now = monotonic, maxWaitMs = MAX_WAIT_MS }: RateLimitOptions = {},
) {
  const link = createStoreLink(store, now);
  const counters = createRateCounters(link.now, () => isEnforced && link.isReachable);
  /** When the first request that waits for the next batch came. */
  let waitingSince: number | undefined;
  /** The counters that are due without a waiting request, by the used fraction of their limit. */
  let minUse = Number.POSITIVE_INFINITY;
  let isSending = false;

  const decideLocally = (batch?: Batch): void => {
    link.isReachable = false;
    waitingSince = undefined;
    counters.decideLocally(batch);
  };

  const sendBatch = async (): Promise<void> => {
    const deadline = (waitingSince ?? now()) + maxWaitMs;
    const batch = counters.takeBatch(minUse);
    waitingSince = undefined;
    minUse = Number.POSITIVE_INFINITY;
    if (batch.counters.length === 0 && link.isReachable) return; // otherwise it fetches the store's time
    const timer = setTimeout(() => decideLocally(batch), Math.max(0, deadline - now()));
    try {
      const deltas = batch.counters.map((counter, index) => storeDeltaOf(counter, batch.counts[index] ?? 0));
      counters.confirm(batch, await link.add(deltas));
    } catch (error) {
      counters.keep(batch);
      decideLocally(batch);
      onError(error as Error);
    } finally {
      clearTimeout(timer);
    }
  };

  /** Sends one batch at a time. Requests that come during a batch wait for the next, which follows at once. */
  const send = async (): Promise<void> => {
    if (isSending) return;
    isSending = true;
    while (waitingSince !== undefined || minUse < Number.POSITIVE_INFINITY) await sendBatch();
    isSending = false;
  };

  let rounds = 0;
  const sendDue = (): void => {
    minUse = Math.min(minUse, MIN_USES[rounds++ % MIN_USES.length] ?? 0);
    void send();
  };
  const timer = setInterval(sendDue, SEND_EVERY_MS).unref();
  sendDue();

  return {
    /**
     * Counts a request of `key` that costs `cost` units (default 1). Decides it from memory, or near the limit in the
     * shared store: the verdict is then pending. `counted` are units of the same request that were counted before.
     */
    consume(limit: RateLimit, key: string, cost?: number, counted?: number): RateVerdict | PendingVerdict {
      const verdict = counters.consume(limit, key, cost, counted);
      if ('settled' in verdict) {
        waitingSince ??= now();
        void send();
      }
      return verdict;
    },
    ...createStrictLimits(link),
    /** Decides every waiting request by this process's own count, and sends no further batch. */
    async close(): Promise<void> {
      clearInterval(timer);
      decideLocally();
      await store.close();
    },
  };
}

/**
 * Limits that are counted and decided in the store only, for issuing credentials. They reject when the store is down.
 * Additions that come during a round trip share the next one: hundreds at once would exceed the time-out of a connection.
 */
function createStrictLimits(link: ReturnType<typeof createStoreLink>) {
  const additions = createGroupCommit<StoreDelta, number>({
    flush: link.add,
    maxInFlight: 1,
    weigh: () => [1],
    maxWeights: [MOST_ADDITIONS],
  });
  const openCounter = async (limit: RateLimit, key: string) => {
    if (!link.isClockKnown()) await link.add([]);
    const counter = createCounter(limit, key, windowEnd(limit, link.now()));
    const add = (count: number): Promise<number> => additions.add(storeDeltaOf(counter, count));
    return { counter, add };
  };
  return {
    /** Counts and decides in the store. `undo` subtracts the unit again, for limits that only count failures. */
    async consumeStrictly(limit: RateLimit, key: string): Promise<RateVerdict & { undo(): Promise<void> }> {
      const { counter, add } = await openCounter(limit, key);
      const used = await add(1);
      const total = Math.min(used, limit.limit); // refused attempts are counted, but the next window begins at 0
      const verdict = verdictOf(limit, total, used <= limit.limit, counter.endsAt - link.now());
      return { ...verdict, undo: async () => void (await add(-1)) };
    },
    /** Resets the count of a key's current window. */
    async clear(limit: RateLimit, key: string): Promise<void> {
      const { add } = await openCounter(limit, key);
      await add(-(await add(0))); // concurrent additions stay
    },
  };
}

/** Returns a counter's addition as the store receives it, with a digest in place of the identity or key. */
function storeDeltaOf({ limit, key, endsAt, shared }: Counter, count: number): StoreDelta {
  const name = `${limit.scope}\n${endsAt}\n${key}`;
  const digest = createHash('sha256').update(name).digest('base64url').slice(0, 27);
  return { key: digest, count, expiresAt: new Date(endsAt), needsExpiry: shared === 0 };
}
