import type { Config } from '../platform/config.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Admission } from './admission.ts';
import { countJobs, measureJob } from './census.ts';
import type { QueueConnection, QueueTarget } from './connection.ts';
import {
  CLUSTERED,
  checkPostgres,
  checkRedis,
  type Durability,
  MAX_MEMORY_RATIO,
  memoryLimit,
  REWRITING,
} from './durability.ts';
import { QUEUES, type QueueName } from './jobs.ts';
import { countEntries } from './pending-redis.ts';
import type { Tally } from './pending-repair.ts';
import { judgeReplicas, type Replication } from './replicas.ts';
import { createSentinelReader } from './sentinel-reader.ts';

const MEGABYTE = 1024 * 1024;
/** No flush is larger: 512 KB of answers, and what each of them takes besides. */
const LARGEST_JOB_BYTES = MEGABYTE;

/** The state of the queue's store at the last check. */
export interface QueueHealth {
  reachable: boolean;
  /** Why answers are refused; empty when they are taken. */
  reasons: string[];
  /** What is not durable though answers are taken, because the operator gave the promise up (`relaxed`). */
  relaxed: string[];
  waitingJobs: number;
}

/** What a confirmation rests on: one connection, and what a check on that connection found. */
export interface Basis {
  /** The socket of the connection; absent in PostgreSQL. */
  socket?: unknown;
  /** Whether the settings kept the promise. */
  isDurable: boolean;
  /** The primary and its replicas; only where `QUEUE_REPLICAS` asks for some. */
  replicas?: { replication: Replication; confirmations: number };
}

/** The result of a check, and what confirmations may rest on from then on. */
export interface Finding {
  health: QueueHealth;
  basis: Basis;
}

/** Where a producer writes to. */
export interface ProducerTarget extends QueueTarget {
  /** Why the database in which the answers are finally stored may lose them, by its last check. */
  databaseReasons?(): readonly string[];
}

export interface CheckDeps {
  connection: QueueConnection;
  target: ProducerTarget;
  config: Config;
  metrics: Metrics;
  /** Called with the number of jobs, and of those in the registry of pending answers; only with Valkey or Redis. */
  onTally(tally: Tally): void;
}

/** Whether the connection still is the one with this socket, and open; always in PostgreSQL. */
export const isCurrentSocket = ({ redis }: QueueConnection, socket: unknown): boolean =>
  !redis || (redis.status === 'ready' && redis.stream === socket);

/** Creates a check of the store: reads its settings, its size and its replicas. Rejects when they can't be read. */
export function createStoreCheck(deps: CheckDeps, admission: Admission): () => Promise<Finding> {
  const { connection, target, config, metrics, onTally } = deps;
  const { redis } = connection;
  const readSentinels = createSentinelReader(target.redisUrl);
  const judgeDurability = createDurabilityJudge(target);
  const isStrict = config.QUEUE_DURABILITY === 'strict';
  return async () => {
    const seenBytes = admission.unseenBytes();
    const socket = redis?.stream;
    const [durability, known, entries, ...jobs] = await Promise.all([
      checkStore(connection),
      config.QUEUE_REPLICAS > 0 ? readSentinels(socket) : undefined,
      redis ? countEntries(redis) : undefined,
      ...Object.values(QUEUES).map(queue => measureJobs(deps, queue)),
    ]);
    if (!isCurrentSocket(connection, socket)) throw new Error('the connection was replaced during the check');
    admission.release(seenBytes);
    const waitingJobs = jobs.reduce((sum, { all }) => sum + all, 0);
    const active = jobs.reduce((sum, each) => sum + each.active, 0);
    if (entries !== undefined) onTally({ entries, idle: waitingJobs - active, active });
    const { replication, writesSucceed, isCluster } = durability;
    const queueBytes = await measureQueue(deps, durability, waitingJobs);
    const doubts = judgeDurability(durability, socket);
    metrics.queueDurable.set(doubts.length === 0 && writesSucceed ? 1 : 0);
    const verdict = replication && (await judgeReplicas(replication, known, config.QUEUE_REPLICAS));
    const reasons = [
      ...(isStrict ? doubts : []),
      ...(writesSucceed ? [] : ['its last write to disk failed']),
      ...(isCluster ? [CLUSTERED] : []),
      ...(verdict?.reasons ?? []),
      ...judgeSize(deps, admission, durability, queueBytes, waitingJobs),
    ];
    const relaxed = isStrict ? [] : doubts.map(reason => `${reason}: up to 1 s may be lost on power failure`);
    const replicas =
      replication && verdict && config.QUEUE_REPLICAS > 0
        ? { replicas: { replication, confirmations: verdict.confirmations } }
        : {};
    return {
      health: { reachable: true, reasons, relaxed, waitingJobs },
      basis: { socket, isDurable: doubts.length === 0 || !isStrict, ...replicas },
    };
  };
}

const checkStore = ({ redis, pool }: QueueConnection): Promise<Durability> =>
  redis ? checkRedis(redis) : checkPostgres(pool as NonNullable<typeof pool>);

async function measureJobs(
  { connection, metrics }: CheckDeps,
  queue: QueueName,
): Promise<{ active: number; all: number }> {
  const counts = await countJobs(connection, queue);
  for (const [state, count] of Object.entries(counts)) metrics.queueJobs.set({ queue, state }, count);
  return { active: counts.active ?? 0, all: Object.values(counts).reduce((sum, count) => sum + count, 0) };
}

const maxBytesOf = (config: Config): number => config.QUEUE_MAX_MB * MEGABYTE;

/** The size of the queue in bytes. In PostgreSQL it is estimated, once there are jobs enough to reach the limit. */
async function measureQueue(
  { connection: { pool }, config }: CheckDeps,
  { usedBytes }: Durability,
  waitingJobs: number,
): Promise<number> {
  if (!pool) return usedBytes;
  return waitingJobs * LARGEST_JOB_BYTES < maxBytesOf(config) ? 0 : waitingJobs * (await measureJob(pool));
}

/** Why the queue is as large as it may be. */
function judgeSize(
  { connection: { redis }, config, metrics }: CheckDeps,
  admission: Admission,
  durability: Durability,
  queueBytes: number,
  waitingJobs: number,
): string[] {
  const maxBytes = maxBytesOf(config);
  const limitBytes = redis ? memoryLimit(durability, maxBytes) : maxBytes / MAX_MEMORY_RATIO;
  if (redis) metrics.redisMemory.set(queueBytes / limitBytes);
  return admission.judgeSize({ durability, queueBytes, limitBytes, waitingJobs, maxJobs: config.QUEUE_MAX_JOBS });
}

/** Finds why what the store confirms may not be on its disk, or not stay on that of the database. */
function createDurabilityJudge({ databaseReasons = () => [] }: ProducerTarget) {
  /** The connection on which the append-only file was seen without a rewrite. */
  let provenSocket: unknown;
  return ({ reasons, isRewriting }: Durability, socket: unknown): string[] => {
    if (reasons.length > 0) provenSocket = undefined;
    else if (!isRewriting) provenSocket = socket;
    const doubts = isRewriting && provenSocket !== socket ? [...reasons, REWRITING] : reasons;
    return [...new Set([...doubts, ...databaseReasons()])]; // one PostgreSQL may be both
  };
}
