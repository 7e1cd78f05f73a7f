import { setTimeout as sleep } from 'node:timers/promises';
import { type Redis, ReplyError } from 'ioredis';
import type { Client, Pool } from 'pg';
import { withClient } from '../platform/postgres-client.ts';
import { readDurability } from '../platform/postgres-durability.ts';
import { infoField, openRedis, readSentinelReplicas, type SentinelReplica } from '../platform/redis.ts';
import type { RedisUrl } from '../platform/store-urls.ts';
import { withTimeout } from '../platform/timeouts.ts';
import type { QueueTarget } from './connection.ts';
import { type Replication, readReplication } from './replicas.ts';

/**
 * Answers are refused above this fraction of the store's memory. In a full store, the worker cannot drain the queue
 * either.
 */
export const MAX_MEMORY_RATIO = 0.7;

/** Whether the store is proven to persist a job before it confirms it, and how full it is. */
export interface Durability {
  /** Why a 202 would promise too much; empty when it does not. */
  reasons: string[];
  /** The one of these reasons that the store forbids reading its settings, which the operator may answer for. */
  hidden?: string;
  /**
   * Whether a rewrite of the append-only file is running, due, or failed. It may be the first one since `appendonly`
   * was enabled; until that succeeds, writes are not durable. INFO does not distinguish the two cases.
   */
  isRewriting: boolean;
  /** used_memory in bytes; 0 in PostgreSQL. */
  usedBytes: number;
  /** maxmemory in bytes; 0 without a maximum, and in PostgreSQL. */
  maxBytes: number;
  /** Memory of the machine in bytes, as the store reports it (it ignores a container's limit); 0 in PostgreSQL. */
  machineBytes: number;
  /** Connections of all clients / those that the store accepts; absent in PostgreSQL, and if the store reports no limit. */
  connectionsUsed?: number;
  /** Whether the last write to disk succeeded. */
  writesSucceed: boolean;
  /** Absent in PostgreSQL, which waits for its replicas by `synchronous_standby_names`. */
  replication?: Replication;
  /** Whether the store is part of a Cluster, which spreads the keys of a job over several nodes. */
  isCluster: boolean;
}

/** Why a Valkey or Redis Cluster cannot store the queue, whatever its settings. */
export const CLUSTERED =
  'it is a cluster, which spreads the keys of a job over several nodes: use one primary with replicas';

/** Why a store is not durable yet: `isRewriting` holds and no earlier check has proven the append-only file. */
export const REWRITING =
  'its append-only file is being rewritten; writes are not durable until the first rewrite after `appendonly yes` has succeeded';

const EXPECTED = {
  appendonly: 'yes',
  appendfsync: 'always',
  'no-appendfsync-on-rewrite': 'no',
  'maxmemory-policy': 'noeviction',
} as const;

/** Checks a Valkey or Redis. One that hides its settings is not considered durable. */
export async function checkRedis(redis: Redis): Promise<Durability> {
  const [info, settings] = await Promise.all([
    redis.info('memory', 'persistence', 'replication', 'cluster', 'clients'),
    readRedisSettings(redis, Object.keys(EXPECTED)).catch((error: Error) => error),
  ]);
  const replication = readReplication(info);
  const maxClients = Number(infoField(info, 'maxclients') ?? 0);
  return {
    ...(maxClients > 0 ? { connectionsUsed: Number(infoField(info, 'connected_clients')) / maxClients } : {}),
    ...(settings instanceof ReplyError ? { hidden: unreadable(settings as Error) } : {}),
    reasons: [
      ...checkSettings(settings),
      ...(settings instanceof Error ? checkEviction(info) : []),
      ...(replication.role === 'slave' ? ['it is a replica: its data is overwritten by the primary'] : []),
    ],
    isRewriting: isRewriting(info),
    usedBytes: Number(infoField(info, 'used_memory')),
    maxBytes: Number(infoField(info, 'maxmemory') ?? 0),
    machineBytes: Number(infoField(info, 'total_system_memory') ?? 0),
    writesSucceed: (infoField(info, 'aof_last_write_status') ?? 'ok') === 'ok',
    replication,
    isCluster: infoField(info, 'cluster_enabled') === '1',
  };
}

const unreadable = (error: Error): string =>
  `its settings cannot be read (${error.message}), so its durability is unknown`;

/** The eviction policy is also part of INFO, which stores that hide their settings still return. */
function checkEviction(info: string): string[] {
  const policy = infoField(info, 'maxmemory_policy');
  return policy === undefined || policy === 'noeviction'
    ? []
    : [`maxmemory-policy is "${policy}" and must be "noeviction"`];
}

const checkSettings = (settings: Record<string, string> | Error): string[] =>
  settings instanceof Error
    ? [unreadable(settings)]
    : Object.entries(EXPECTED).flatMap(([name, wanted]) =>
        settings[name] === wanted ? [] : [`${name} is "${settings[name]}" and must be "${wanted}"`],
      );

/** Works for Redis 7.0 and Valkey 9: a failed first rewrite is due again at once, with the status `err`. */
const isRewriting = (info: string): boolean =>
  infoField(info, 'aof_rewrite_in_progress') === '1' ||
  infoField(info, 'aof_rewrite_scheduled') === '1' ||
  (infoField(info, 'aof_last_bgrewrite_status') ?? 'ok') !== 'ok';

/** Returns settings of a Valkey or Redis by name. Rejects where CONFIG is not allowed. */
export async function readRedisSettings(redis: Redis, names: string[]): Promise<Record<string, string>> {
  const flat = (await redis.config('GET', ...names)) as string[];
  return Object.fromEntries(flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? '']] : [])));
}

/** Checks a PostgreSQL that stores the queue, including the commit mode of this connection. */
export async function checkPostgres(client: Client | Pool, commitsAreSet = false): Promise<Durability> {
  const { server, commitsWait } = await readDurability(client);
  return {
    reasons: [...server, ...(commitsWait || commitsAreSet ? [] : ['synchronous_commit is off and must be on'])],
    isRewriting: false,
    usedBytes: 0,
    maxBytes: 0,
    machineBytes: 0,
    writesSucceed: true,
    isCluster: false,
  };
}

/**
 * The bytes of memory that a Valkey or Redis may use: `maxmemory`. Without it, the limit is such that answers are
 * refused at `maxQueueBytes`, and at most the machine's memory.
 */
export const memoryLimit = ({ maxBytes, machineBytes }: Durability, maxQueueBytes: number): number => {
  if (maxBytes > 0) return maxBytes;
  const limit = maxQueueBytes / MAX_MEMORY_RATIO;
  return machineBytes > 0 ? Math.min(limit, machineBytes) : limit;
};

/** How long an inspection waits for a rewrite of the append-only file to end. */
const REWRITE_TIMEOUT_MS = 5000;
const CHECK_EVERY_MS = 250;

/** Checks once, but waits up to 5 s for a routine rewrite of the append-only file to end. */
async function checkRewrittenRedis(redis: Redis): Promise<Durability> {
  for (const deadline = Date.now() + REWRITE_TIMEOUT_MS; ; await sleep(CHECK_EVERY_MS)) {
    const durability = await checkRedis(redis);
    if (!durability.isRewriting || durability.reasons.length > 0) return durability;
    if (Date.now() > deadline) return { ...durability, reasons: [REWRITING] };
  }
}

/** The state of the queue's store, with the replicas that the Sentinels report where `REDIS_URL` lists Sentinels. */
export type Inspection = Durability & { sentinelReplicas?: SentinelReplica[] };

/**
 * Checks the queue's store once, on a separate connection. Rejects when it is unreachable.
 *
 * In PostgreSQL `synchronous_commit` is checked only with `relaxed`: otherwise every connection of the queue sets it.
 */
export async function inspectQueue({ databaseUrl, redisUrl, relaxed = false }: QueueTarget): Promise<Inspection> {
  if (!redisUrl) return withClient(databaseUrl, client => checkPostgres(client, !relaxed));
  return withTimeout(inspectRedis(redisUrl), INSPECTION_TIMEOUT_MS, 'inspecting the queue');
}

/** Longer than all of its steps. Without it, a store that accepts connections and replies to nothing would hang it. */
const INSPECTION_TIMEOUT_MS = 20_000;

async function inspectRedis(url: RedisUrl): Promise<Inspection> {
  const redis = openRedis(url, {
    lazyConnect: true,
    connectTimeout: 3000,
    commandTimeout: 3000,
    sentinelCommandTimeout: 3000,
    retryStrategy: null,
    sentinelRetryStrategy: () => null,
  });
  let failure: Error | undefined;
  redis.on('error', (error: Error) => {
    failure = error; // the cause, which the rejection of `connect` may lack
  });
  try {
    await redis.connect();
    const durability = await checkRewrittenRedis(redis);
    const sentinelReplicas = await readSentinelReplicas(url);
    return { ...durability, ...(sentinelReplicas && { sentinelReplicas }) };
  } catch (error) {
    throw failure ?? error;
  } finally {
    redis.disconnect();
  }
}
