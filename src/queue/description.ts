import type { Redis } from 'ioredis';
import { createLog } from '../platform/log.ts';
import { connectQueue, type QueueTarget } from './connection.ts';
import { inspectQueue, readRedisSettings } from './durability.ts';
import { QUEUES } from './jobs.ts';
import { findOldest, PENDING } from './snapshot.ts';

/** Fields of INFO that contain no names or addresses. */
const INFO = [
  'redis_version',
  'valkey_version',
  'redis_mode',
  'uptime_in_seconds',
  'connected_clients',
  'blocked_clients',
  'used_memory',
  'maxmemory',
  'maxmemory_policy',
  'mem_fragmentation_ratio',
  'evicted_keys',
  'rejected_connections',
  'instantaneous_ops_per_sec',
  'latest_fork_usec',
  'loading',
  'aof_enabled',
  'aof_rewrite_in_progress',
  'aof_last_write_status',
  'aof_last_bgrewrite_status',
  'aof_delayed_fsync',
  'rdb_last_bgsave_status',
  'role',
  'connected_slaves',
];
const SETTINGS = ['appendonly', 'appendfsync', 'no-appendfsync-on-rewrite', 'save', 'maxmemory', 'maxmemory-policy'];

async function describeStore(redis: Redis): Promise<Record<string, unknown>> {
  const lines = (await redis.info()).split(/\r?\n/).map(line => line.split(':') as [string, string]);
  return {
    info: Object.fromEntries(lines.filter(([name]) => INFO.includes(name))),
    settings: await readRedisSettings(redis, SETTINGS).catch(() => ({})), // some services hide them
  };
}

/** Returns figures about the queues: jobs by state, ages, durability. Rejects when the store is unreachable. */
export async function describeQueue(target: QueueTarget): Promise<Record<string, unknown>> {
  const inspection = await inspectQueue(target); // first: it fails early
  const { replication, sentinelReplicas, ...durability } = inspection; // without addresses
  const connection = connectQueue(target, createLog('silent', 'support-bundle'));
  const { redis } = connection;
  try {
    if (redis && redis.status !== 'ready')
      await new Promise((resolve, reject) =>
        redis.once('ready', resolve).once('close', () => reject(new Error('closed'))),
      );
    const queues: Record<string, unknown> = {};
    for (const name of Object.values(QUEUES)) {
      const jobs = await connection.queue(name).getJobCounts(...PENDING);
      queues[name] = { jobs, oldest_job_at: (await findOldest(connection, name)) ?? null };
    }
    return {
      store: redis ? 'Valkey or Redis' : 'PostgreSQL',
      durability,
      ...(replication && { role: replication.role, replicas: replication.connected.length }),
      ...(sentinelReplicas && { sentinel_replicas: sentinelReplicas.length }),
      queues,
      ...(redis && (await describeStore(redis))),
    };
  } finally {
    await connection.close();
  }
}
