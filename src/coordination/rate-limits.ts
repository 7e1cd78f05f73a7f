import { createHash } from 'node:crypto';
import { createThrottle, type Log } from '../platform/log.ts';
import {
  type Counter,
  createRateCounters,
  type RateLimit,
  type RateVerdict,
  verdictOf,
  windowEnd,
} from './rate-counters.ts';
import { openDatabaseCounters, openRedisCounters, type StoreDelta } from './rate-stores.ts';
import { createStoreClock } from './store-clock.ts';

export type { RateLimit, RateVerdict } from './rate-counters.ts';

export interface RateLimits {
  /**
   * Counts a request of `key` that costs `cost` units (1), and decides it from memory; near the limit with the shared store,
   * in one round trip. `counted` are units of the same request that were counted before.
   */
  take<Limit extends RateLimit>(
    limit: Limit,
    key: string,
    cost?: number,
    counted?: number,
  ): RateVerdict<Limit> | Promise<RateVerdict<Limit>>;
  /** Counts and decides in the shared store itself. Rejects when that is down: for issuing credentials. */
  takeStrictly<Limit extends RateLimit>(limit: Limit, key: string): Promise<RateVerdict<Limit>>;
  close(): Promise<void>;
}

export interface RateLimitOptions {
  /** False where limits only count (`RATE_LIMITS=off`): no request then waits for the store. */
  isEnforced?: boolean;
  /** This machine's clock in milliseconds. It only bridges the time between two replies of the store. */
  now?: () => number;
}

/** How often local counts are added to the store, and the totals of all processes are learnt. */
const RECONCILE_EVERY_MS = 250;
/** Counters below half of their limit sync only every 4th round: nearly all are, and each costs CPU here and in the store. */
const ALL_EVERY = 4;
/** How long a request waits for the store's total before this process decides by its own count. */
const SETTLE_WITHIN_MS = 300;

const monotonic = (): number => performance.timeOrigin + performance.now();

/**
 * Rate limits shared by all API processes, counted in memory and reconciled in batches.
 *
 * A caller with less than a tenth of a limit left, or with more than a tenth that this process has not reported, waits for
 * one round trip, which all such callers of the process share. `rate-counters.ts` states the bound that follows. While the
 * store is down each process decides by its own counts. Windows follow the store's clock.
 */
export function openRateLimits(
  databaseUrl: string,
  redisUrl: string | undefined,
  log: Log,
  { isEnforced = true, now = monotonic }: RateLimitOptions = {},
): RateLimits {
  const store = redisUrl ? openRedisCounters(redisUrl, log) : openDatabaseCounters(databaseUrl, log);
  const clock = createStoreClock(now);
  /** Whether the store took the last batch, and in time. */
  let isReachable = false;
  const counters = createRateCounters({ now: clock.now, mayWait: () => isEnforced && isReachable });
  const throttle = createThrottle(10_000);
  let sending: Promise<void> | undefined;
  let isWanted = false;

  const add = async (deltas: StoreDelta[]): Promise<number[]> => {
    const sentAt = now();
    const { totals, time } = await store.add(deltas);
    clock.learn(time, sentAt, now());
    isReachable = true;
    return totals;
  };

  const send = async (everyone: boolean) => {
    const deltas = counters.takeUnsent(everyone);
    if (deltas.length === 0 && isReachable) return; // while it is away, an empty batch asks for its time
    const goOnAlone = () => {
      isReachable = false;
      counters.decideLocally(deltas);
    };
    const late = setTimeout(goOnAlone, SETTLE_WITHIN_MS);
    try {
      const totals = await add(deltas.map(({ counter, count }) => storeDeltaOf(counter, count)));
      counters.confirm(deltas, totals);
    } catch (error) {
      counters.keep(deltas);
      goOnAlone();
      throttle('reconcile', () =>
        log.warn(
          { reason: (error as Error).message },
          'rate limit store is unavailable; counting in this process only',
        ),
      );
    } finally {
      clearTimeout(late);
    }
  };

  /** Sends one batch at a time; while one is on its way, the requests that wait gather for the next. */
  const reconcile = (everyone: boolean): Promise<void> => {
    if (sending) {
      isWanted = true;
      return sending;
    }
    sending = send(everyone).then(() => {
      sending = undefined;
      if (isWanted && !closed) void reconcile(false);
      isWanted = false;
    });
    return sending;
  };

  let closed = false;
  let timer: NodeJS.Timeout;
  let rounds = 0;
  const loop = async () => {
    const everyone = rounds++ % ALL_EVERY === 0;
    await sending;
    await reconcile(everyone);
    if (everyone) counters.forgetEnded();
    if (closed) return;
    timer = setTimeout(loop, RECONCILE_EVERY_MS);
    timer.unref();
  };
  void loop();

  return {
    take(limit, key, cost, counted) {
      const verdict = counters.take(limit, key, cost, counted);
      if (!('settled' in verdict)) return verdict;
      void reconcile(false);
      return verdict.settled;
    },
    async takeStrictly(limit, key) {
      if (!clock.isKnown()) await add([]);
      const endsAt = windowEnd(limit, clock.now());
      const [total = 1] = await add([storeDeltaOf({ limit, key, endsAt, isStored: false }, 1)]);
      return verdictOf(limit, total, total <= limit.limit, endsAt - clock.now());
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      isReachable = false;
      counters.decideLocally([]);
      await store.close();
    },
  };
}

/** A counter's addition as the store receives it: a digest instead of the identity or key. */
function storeDeltaOf(
  { limit, key, endsAt, isStored }: Pick<Counter, 'limit' | 'key' | 'endsAt' | 'isStored'>,
  count: number,
): StoreDelta {
  const name = `${limit.scope}\n${endsAt}\n${key}`;
  const digest = createHash('sha256').update(name).digest('base64url').slice(0, 27);
  return { key: digest, count, expiresAt: new Date(endsAt), needsExpiry: !isStored };
}
