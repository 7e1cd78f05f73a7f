import { Pool } from 'pg';
import { outlive, readsUrl } from '../platform/postgres-client.ts';
import { BEGIN, SESSION_SETTINGS } from '../platform/postgres-session.ts';
import { connected, openRedis } from '../platform/redis.ts';
import { type DatabaseUrl, isPooled, type RedisUrl, rolePrefixOf } from '../platform/store-urls.ts';

/** An addition to one counter of the store. */
export interface StoreDelta {
  key: string;
  count: number;
  expiresAt: Date;
  /** Whether this process has not stored the counter before. */
  needsExpiry: boolean;
}

/** The shared counters of all processes. */
export interface CounterStore {
  /** Adds to counters; returns their totals over all processes, in order, and the store's time in milliseconds. */
  add(deltas: StoreDelta[]): Promise<{ totals: number[]; time: number }>;
  close(): Promise<void>;
}

/** Counters in Valkey or Redis. A counter expires 1 s after its window. */
export function openRedisCounters(url: RedisUrl, onError: (error: Error) => void): CounterStore {
  const redis = openRedis(url, {
    connectTimeout: 2000,
    commandTimeout: 1000,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: times => Math.min(100 * times, 2000),
  }).on('error', onError);
  const opened = connected(redis);
  return {
    async add(deltas) {
      await opened;
      const pipeline = redis.pipeline().time();
      for (const { key, count } of deltas) pipeline.incrby(`parley:rate:${key}`, count);
      for (const { key, expiresAt, needsExpiry } of deltas)
        if (needsExpiry) pipeline.pexpireat(`parley:rate:${key}`, expiresAt.getTime() + 1000);
      const replies = (await pipeline.exec()) ?? [];
      const failure = replies.find(([error]) => error)?.[0];
      if (failure) throw failure;
      const [time, ...totals] = replies.map(([, value]) => value);
      const [seconds, microseconds] = time as [string, string];
      return {
        totals: totals.slice(0, deltas.length).map(Number),
        time: Number(seconds) * 1000 + Number(microseconds) / 1000,
      };
    },
    close: async () => redis.disconnect(),
  };
}

/** All processes lock rows in one order, so they never deadlock. A counter may occur twice in a batch. */
const ADD = `
  with added as (
    insert into public.rate_counters (key, count, expires_at)
    select key, sum(count), max(expires_at)
    from unnest($1::text[], $2::bigint[], $3::timestamptz[]) as delta (key, count, expires_at)
    group by key order by key
    on conflict (key) do update set count = rate_counters.count + excluded.count
    returning key, count)
  select added.key, added.count, extract(epoch from clock_timestamp()) * 1000 as time
  from (values (1)) as always left join added on true`;

interface Total {
  key: string;
  count: string;
  time: string;
}

/** Adds to the counters in one round trip, in a transaction with the role and the time-out. */
async function addInTransaction(pool: Pool, role: string, params: unknown[]): Promise<Total[]> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    const [, , added] = await Promise.all([
      client.query(BEGIN),
      client.query("select set_config('role', $1, true), set_config('statement_timeout', '2000', true)", [role]),
      client.query<Total>(ADD, params),
      client.query('commit'),
    ]);
    return added.rows;
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    client.release(failure); // its transaction may be open
  }
}

/** Counters in an unlogged table of PostgreSQL. */
export function openDatabaseCounters(database: DatabaseUrl, onError: (error: Error) => void): CounterStore {
  const pool = new Pool({
    ...readsUrl(database),
    max: 2,
    connectionTimeoutMillis: 1000,
    query_timeout: 2000,
    pipeline: true,
    application_name: 'parley_rate_limits',
    ...(isPooled(database) ? {} : { onConnect: client => client.query(SESSION_SETTINGS) }),
  })
    .on('connect', outlive)
    .on('error', onError);
  const run = (params: unknown[]) => addInTransaction(pool, `${rolePrefixOf(database)}_app`, params);
  return {
    async add(deltas) {
      const rows = await run([
        deltas.map(delta => delta.key),
        deltas.map(delta => delta.count),
        deltas.map(delta => delta.expiresAt),
      ]);
      const left = new Map(rows.map(row => [row.key, Number(row.count)]));
      const totals = deltas.toReversed().map(({ key, count }) => {
        const total = left.get(key) ?? count;
        left.set(key, total - count); // that of an earlier addition to the same counter
        return total;
      });
      return { totals: totals.reverse(), time: Number(rows[0]?.time) };
    },
    close: () => pool.end(),
  };
}
