import type { Redis } from 'ioredis';
import type { Client, Pool } from 'pg';
import { withClient } from '../platform/postgres-client.ts';
import { openRedis } from '../platform/redis.ts';

/** From this part of the store's memory on answers are refused: when it is full the worker can not drain it either. */
export const MAX_MEMORY_RATIO = 0.7;

/** Whether the store is proven to have a job on disk when it says so, and how full it is. */
export interface Durability {
  /** Why the promise of a 202 would be untrue; empty when it holds. */
  reasons: string[];
  /** used_memory / maxmemory; 0 without a maximum, and in PostgreSQL. */
  memoryRatio: number;
  /** maxmemory in bytes; Infinity without a maximum, and in PostgreSQL. */
  memoryBytes: number;
  /** Whether the last write to disk succeeded. */
  writesSucceed: boolean;
  /** Replicas that are connected; none in PostgreSQL, which waits for its own by `synchronous_standby_names`. */
  replicas: number;
  /** Whether it is one of a Cluster, on which the keys of a job lie apart. */
  isCluster: boolean;
}

/** Why a Valkey or Redis carries no queue, whatever its settings. */
export const CLUSTERED = 'it is a Cluster, on which the keys of a job lie apart: use one primary, with replicas';

const field = (info: string, name: string): string | undefined =>
  info.match(new RegExp(`^${name}:(.*?)\\r?$`, 'm'))?.[1];

const EXPECTED = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' } as const;

/** What a Valkey or Redis says of itself. One that hides its configuration proves nothing. */
export async function checkRedis(redis: Redis): Promise<Durability> {
  const [info, settings] = await Promise.all([
    redis.info('memory', 'persistence', 'replication', 'cluster'),
    readRedisSettings(redis, Object.keys(EXPECTED)).catch((error: Error) => error),
  ]);
  const limit = Number(field(info, 'maxmemory') ?? 0);
  return {
    reasons:
      settings instanceof Error
        ? [`its settings can not be read (${settings.message}), so nothing proves that it writes to disk`]
        : Object.entries(EXPECTED).flatMap(([name, wanted]) =>
            settings[name] === wanted ? [] : [`${name} is "${settings[name]}" and must be "${wanted}"`],
          ),
    memoryRatio: limit > 0 ? Number(field(info, 'used_memory')) / limit : 0,
    memoryBytes: limit > 0 ? limit : Number.POSITIVE_INFINITY,
    writesSucceed: (field(info, 'aof_last_write_status') ?? 'ok') === 'ok',
    replicas: Number(field(info, 'connected_slaves') ?? 0),
    isCluster: field(info, 'cluster_enabled') === '1',
  };
}

/** Settings of a Valkey or Redis by their names. Rejects where it hides them. */
export async function readRedisSettings(redis: Redis, names: string[]): Promise<Record<string, string>> {
  const flat = (await redis.config('GET', ...names)) as string[];
  return Object.fromEntries(flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? '']] : [])));
}

/** What a PostgreSQL says of itself. */
export async function checkPostgres(client: Client | Pool): Promise<Durability> {
  const { rows } = await client.query<{ name: string; setting: string }>(
    "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes')",
  );
  const off = rows.filter(row => row.setting === 'off');
  return {
    reasons: off.map(row => `${row.name} is off and must be on`),
    memoryRatio: 0,
    memoryBytes: Number.POSITIVE_INFINITY,
    writesSucceed: true,
    replicas: 0,
    isCluster: false,
  };
}

/** A single look at the queue's store, on a connection of its own. Rejects when it can't be reached. */
export async function inspectQueue(databaseUrl: string, redisUrl: string | undefined): Promise<Durability> {
  if (redisUrl) {
    const redis = openRedis(redisUrl, {
      lazyConnect: true,
      connectTimeout: 3000,
      commandTimeout: 3000,
      retryStrategy: null,
    });
    redis.on('error', () => undefined); // the rejection of `connect` below says the same
    try {
      await redis.connect();
      return await checkRedis(redis);
    } finally {
      redis.disconnect();
    }
  }
  return withClient(databaseUrl, checkPostgres);
}
