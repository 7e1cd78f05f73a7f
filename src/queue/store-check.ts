import type { Config } from '../platform/config.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Admission } from './admission.ts';
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
import type { RegistryCounts } from './pending-repair.ts';
import { checkReplicas, type Replication } from './replicas.ts';
import { createSentinelReader } from './sentinel-reader.ts';
import { countJobs, measureJob } from './snapshot.ts';

const MEGABYTE = 1024 * 1024;
/** Maximum size of a flush: 512 KB of answers, plus the overhead of each. */
const LARGEST_JOB_BYTES = MEGABYTE;

/** The state of the queue's store at the last check. */
export interface QueueHealth {
  reachable: boolean;
  /** Why answers are refused; empty when they are accepted. */
  reasons: string[];
  /** Durability gaps that the operator has accepted (`QUEUE_DURABILITY=relaxed`). */
  relaxed: string[];
  /** Unfinished jobs with answers. */
  waitingJobs: number;
}

/** The basis of a confirmation: one connection, and the result of a check on it. */
export interface Basis {
  /** The socket of the connection; absent in PostgreSQL. */
  socket?: unknown;
  /** Whether the settings guaranteed durability. */
  isDurable: boolean;
  /** The primary and its replicas; only if `QUEUE_REPLICAS` is above 0. */
  replicas?: { replication: Replication; confirmations: number };
}

/** The result of a check, and the basis for later confirmations. */
export interface Finding {
  health: QueueHealth;
  basis: Basis;
}

/** The store that a producer writes to. */
export interface ProducerTarget extends QueueTarget {
  /** Returns why the database in which the answers are finally stored may lose them, by its last check. */
  databaseReasons?(): readonly string[];
}

export interface CheckDeps {
  connection: QueueConnection;
  target: ProducerTarget;
  config: Config;
  metrics: Metrics;
  /** Called with the number of jobs and of registry entries; only with Valkey or Redis. */
  onTally(tally: RegistryCounts): void;
}

/** Whether the connection still uses this socket and is open; always true in PostgreSQL. */
export const isCurrentSocket = ({ redis }: QueueConnection, socket: unknown): boolean =>
  !redis || (redis.status === 'ready' && redis.stream === socket);

/** Creates a check of the store's settings, size and replicas. The check rejects when they cannot be read. */
export function createStoreCheck(deps: CheckDeps, admission: Admission): () => Promise<Finding> {
  const { connection, target, config, metrics, onTally } = deps;
  const { redis } = connection;
  const readSentinels = createSentinelReader(target.redisUrl);
  const checkDurability = createDurabilityCheck(target);
  const mode = config.QUEUE_DURABILITY;
  const isStrict = mode !== 'relaxed';
  metrics.queueDurability.set({ mode }, 1);
  return async () => {
    const seenBytes = admission.unseenBytes();
    const socket = redis?.stream;
    const [found, known, entries, jobs] = await Promise.all([
      checkStore(connection),
      config.QUEUE_REPLICAS > 0 ? readSentinels(socket) : undefined,
      redis ? countEntries(redis) : undefined,
      Promise.all(Object.values(QUEUES).map(queue => measureJobs(deps, queue))),
    ]);
    if (!isCurrentSocket(connection, socket)) throw new Error('the connection was replaced during the check');
    admission.release(seenBytes);
    const waitingJobs = jobs.reduce((sum, { all }) => sum + all, 0);
    const active = jobs.reduce((sum, each) => sum + each.active, 0);
    if (entries !== undefined) onTally({ entries, idle: waitingJobs - active, active });
    const durability = config.QUEUE_DURABILITY === 'declared' ? asDeclared(found) : found;
    const { replication, writesSucceed, isCluster } = durability;
    const queueBytes = await measureQueue(deps, durability, waitingJobs);
    const doubts = checkDurability(durability, socket);
    if (durability.connectionsUsed !== undefined) metrics.redisConnections.set(durability.connectionsUsed);
    metrics.queueDurable.set(doubts.length === 0 && writesSucceed ? 1 : 0);
    const verdict = replication && (await checkReplicas(replication, known, config.QUEUE_REPLICAS));
    const reasons = [
      ...(isStrict ? doubts : []),
      ...(writesSucceed ? [] : ['its last write to disk failed']),
      ...(isCluster ? [CLUSTERED] : []),
      ...(verdict?.reasons ?? []),
      ...checkQueueSize(deps, admission, durability, queueBytes, waitingJobs),
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

/** The state of a store whose operator answers for the settings that it hides. */
const asDeclared = (durability: Durability): Durability =>
  durability.hidden === undefined
    ? durability
    : { ...durability, reasons: durability.reasons.filter(reason => reason !== durability.hidden), isRewriting: false };

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

/**
 * Returns the size of the queue in bytes. In PostgreSQL it is an estimate, made once there are enough jobs to reach the
 * limit.
 */
async function measureQueue(
  { connection: { pool }, config }: CheckDeps,
  { usedBytes }: Durability,
  waitingJobs: number,
): Promise<number> {
  if (!pool) return usedBytes;
  return waitingJobs * LARGEST_JOB_BYTES < maxBytesOf(config) ? 0 : waitingJobs * (await measureJob(pool));
}

/** Returns the reasons why the queue is full. */
function checkQueueSize(
  { connection: { redis }, config, metrics }: CheckDeps,
  admission: Admission,
  durability: Durability,
  queueBytes: number,
  waitingJobs: number,
): string[] {
  const maxBytes = maxBytesOf(config);
  const limitBytes = redis ? memoryLimit(durability, maxBytes) : maxBytes / MAX_MEMORY_RATIO;
  if (redis) metrics.redisMemory.set(queueBytes / limitBytes);
  return admission.checkSize({ durability, queueBytes, limitBytes, waitingJobs, maxJobs: config.QUEUE_MAX_JOBS });
}

/** Creates a check for reasons why confirmed jobs may be lost, by the queue's store or by the database. */
function createDurabilityCheck({ databaseReasons = () => [] }: ProducerTarget) {
  /** The connection on which the append-only file was seen without a rewrite. */
  let provenSocket: unknown;
  return ({ reasons, isRewriting }: Durability, socket: unknown): string[] => {
    if (reasons.length > 0) provenSocket = undefined;
    else if (!isRewriting) provenSocket = socket;
    const doubts = isRewriting && provenSocket !== socket ? [...reasons, REWRITING] : reasons;
    return [...new Set([...doubts, ...databaseReasons()])]; // one PostgreSQL may be both
  };
}
