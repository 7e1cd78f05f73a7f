import { createHash } from 'node:crypto';
import { Pool } from 'pg';
import { createThrottle, type Log } from '../platform/log.ts';
import { outlive } from '../platform/postgres-client.ts';
import { openRedis } from '../platform/redis.ts';

/** A limit of requests in a window that starts at a whole multiple of its length. */
export interface RateLimit {
  /** What is limited, for headers and metrics: `identity`, `api-key`, `ip` … */
  readonly scope: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** What a request found: how many are left in the window, and when it ends. */
export interface RateVerdict<Limit extends RateLimit = RateLimit> {
  limit: Limit;
  allowed: boolean;
  remaining: number;
  resetSeconds: number;
}

export interface RateLimits {
  /** Counts a request of `key` and judges it from memory, without a round trip. */
  take<Limit extends RateLimit>(limit: Limit, key: string): RateVerdict<Limit>;
  /** Counts and judges in the shared store itself. Rejects when that is down: for issuing credentials. */
  takeStrictly<Limit extends RateLimit>(limit: Limit, key: string): Promise<RateVerdict<Limit>>;
  close(): Promise<void>;
}

interface Delta {
  key: string;
  count: number;
  expiresAt: Date;
}

/** Adds to counters and gives their totals over all processes, in order. */
interface CounterStore {
  add(deltas: Delta[]): Promise<number[]>;
  close(): Promise<void>;
}

/** What was counted under one key of a limit, in one window. */
interface Counter {
  scope: string;
  key: string;
  endsAt: number;
  limit: number;
  /** The total over all processes when it was last heard, without what is not sent yet. */
  shared: number;
  unsent: number;
}

/** How often what was counted here is added to the store, and what the others counted is learnt. */
const RECONCILE_EVERY_MS = 250;
/** How many times rarer everybody is looked at: nearly all are far from their limit, and each costs both sides something. */
const ALL_EVERY = 4;
const MAX_COUNTERS = 200_000;

/** Whether the others' requests are to be known soon: from half the limit on. */
const isClose = ({ shared, unsent, limit }: Counter): boolean => shared + unsent >= limit / 2;

/**
 * Rate limits that all API processes share, counted in memory and reconciled in batches.
 *
 * Between two reconciliations (250 ms, below half of the limit 1 s) processes do not see each other's requests, so a limit
 * may be passed by what arrives within that time. While the store is down each process goes on with its own counts.
 */
export function openRateLimits(
  databaseUrl: string,
  redisUrl: string | undefined,
  log: Log,
  now = Date.now,
): RateLimits {
  const store = redisUrl ? redisStore(redisUrl, log) : databaseStore(databaseUrl, log);
  /** The counters of the present windows by scope and key. Two levels spare every request the name of both in one. */
  const counters = new Map<string, Map<string, Counter>>();
  const dirty = new Set<Counter>();
  const throttle = createThrottle(10_000);

  const endOf = (windowSeconds: number, at: number) =>
    (Math.floor(at / (windowSeconds * 1000)) + 1) * windowSeconds * 1000;

  const verdict = <Limit extends RateLimit>(
    limit: Limit,
    total: number,
    at: number,
    endsAt: number,
  ): RateVerdict<Limit> => ({
    limit,
    allowed: total <= limit.limit,
    remaining: Math.max(0, limit.limit - total),
    resetSeconds: Math.max(1, Math.ceil((endsAt - at) / 1000)),
  });

  const counterOf = ({ scope, limit, windowSeconds }: RateLimit, key: string, at: number): Counter => {
    const ofScope = counters.get(scope) ?? new Map<string, Counter>();
    const known = ofScope.get(key);
    if (known && at < known.endsAt) return known;
    const endsAt = endOf(windowSeconds, at);
    const counter = { scope, key, endsAt, limit, shared: 0, unsent: 0 };
    ofScope.set(key, counter);
    counters.set(scope, ofScope);
    return counter;
  };

  const forgetEnded = () => {
    const at = now();
    let count = 0;
    for (const ofScope of counters.values()) count += ofScope.size;
    for (const ofScope of counters.values())
      for (const [key, counter] of ofScope)
        if (counter.endsAt <= at || count > MAX_COUNTERS) {
          ofScope.delete(key);
          dirty.delete(counter); // while the store is away nothing else would bound these
          count--;
        }
  };

  /** Once the store has heard of as many as are allowed, more change nothing, for no process: whoever floods costs it nothing. */
  const noteUnsent = (counter: Counter) => {
    if (counter.shared < counter.limit) dirty.add(counter);
  };

  /** Takes from what was counted and not sent yet: of everybody, or of those who are close to their limit. */
  const takeUnsent = (everybody: boolean) => {
    const taken = [];
    for (const counter of dirty) {
      if (!everybody && !isClose(counter)) continue;
      dirty.delete(counter);
      if (counter.endsAt > now()) taken.push({ counter, count: counter.unsent });
    }
    return taken;
  };

  const reconcile = async (everybody: boolean) => {
    const sent = takeUnsent(everybody);
    if (sent.length === 0) return;
    try {
      const totals = await store.add(sent.map(({ counter, count }) => deltaOf(counter, count)));
      sent.forEach(({ counter, count }, index) => {
        counter.shared = totals[index] ?? counter.shared;
        counter.unsent -= count;
        if (counter.unsent > 0) noteUnsent(counter); // counted while the batch was on its way
      });
    } catch (error) {
      for (const { counter } of sent) dirty.add(counter);
      throttle('reconcile', () =>
        log.warn({ reason: (error as Error).message }, 'rate limits are counted by this process alone'),
      );
    }
  };

  let closed = false;
  let timer: NodeJS.Timeout;
  let rounds = 0;
  const loop = async () => {
    const everybody = rounds++ % ALL_EVERY === 0;
    await reconcile(everybody);
    if (everybody) forgetEnded();
    if (!closed) timer = setTimeout(loop, RECONCILE_EVERY_MS);
    if (!closed) timer.unref();
  };
  void loop();

  return {
    take(limit, key) {
      const at = now();
      const counter = counterOf(limit, key, at);
      if (counter.unsent++ === 0) noteUnsent(counter);
      return verdict(limit, counter.shared + counter.unsent, at, counter.endsAt);
    },
    async takeStrictly(limit, key) {
      const at = now();
      const endsAt = endOf(limit.windowSeconds, at);
      const [total] = await store.add([deltaOf({ scope: limit.scope, key, endsAt }, 1)]);
      return verdict(limit, total ?? 1, at, endsAt);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await store.close();
    },
  };
}

/** What a counter is given in the store, which sees no identity, only a digest of what is counted. */
function deltaOf({ scope, key, endsAt }: Pick<Counter, 'scope' | 'key' | 'endsAt'>, count: number): Delta {
  const digest = createHash('sha256').update(`${scope}\n${endsAt}\n${key}`).digest('base64url').slice(0, 27);
  return { key: digest, count, expiresAt: new Date(endsAt) };
}

function redisStore(url: string, log: Log): CounterStore {
  const throttle = createThrottle(10_000);
  const redis = openRedis(url, {
    connectTimeout: 2000,
    commandTimeout: 1000,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: times => Math.min(100 * times, 2000),
  }).on('error', error =>
    throttle('redis', () => log.warn({ reason: error.message }, 'the store of rate limits failed')),
  );
  return {
    async add(deltas) {
      const pipeline = redis.pipeline();
      for (const { key, count, expiresAt } of deltas)
        pipeline.incrby(`parley:rate:${key}`, count).pexpireat(`parley:rate:${key}`, expiresAt.getTime() + 1000);
      const replies = (await pipeline.exec()) ?? [];
      const failure = replies.find(([error]) => error)?.[0];
      if (failure) throw failure;
      return deltas.map((_, index) => Number(replies[index * 2]?.[1]));
    },
    close: async () => redis.disconnect(),
  };
}

function databaseStore(url: string, log: Log): CounterStore {
  const throttle = createThrottle(10_000);
  const pool = new Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: 1000,
    query_timeout: 2000,
    onConnect: client => client.query('set statement_timeout = 2000'), // as an option a pooler would refuse it
    application_name: 'parley_rate_limits',
  })
    .on('connect', outlive)
    .on('error', error => throttle('pg', () => log.warn({ reason: error.message }, 'the store of rate limits failed')));
  return {
    async add(deltas) {
      const ordered = [...deltas].sort((a, b) => (a.key < b.key ? -1 : 1)); // one order for all processes: no deadlock
      const { rows } = await pool.query<{ key: string; count: string }>(
        `insert into rate_counters (key, count, expires_at) select * from unnest($1::text[], $2::bigint[], $3::timestamptz[])
         on conflict (key) do update set count = rate_counters.count + excluded.count returning key, count`,
        [ordered.map(delta => delta.key), ordered.map(delta => delta.count), ordered.map(delta => delta.expiresAt)],
      );
      const totals = new Map(rows.map(row => [row.key, Number(row.count)]));
      return deltas.map(delta => totals.get(delta.key) ?? delta.count);
    },
    close: () => pool.end(),
  };
}
