import type { Config } from '../platform/config.ts';
import { createThrottle, type Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { within } from '../platform/shutdown.ts';
import { countJobs, measureJob } from './census.ts';
import { PRODUCER_TIMEOUT_MS, type QueueConnection, type QueueTarget } from './connection.ts';
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

const CHECK_EVERY_MS = 1000;
const CHECK_AGAIN_MS = 250;
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

export interface HealthWatch {
  current(): QueueHealth;
  /** Why answers are refused; empty when they are taken. Includes memory used since the last check. */
  refusals(): string[];
  /** What a flush that begins now rests on. */
  basis(): Basis;
  /** Whether a flush that began on that basis may still be confirmed: same connection, still durable. */
  stillHolds(basis: Basis): boolean;
  /** Counts bytes that are about to be added to the queue. */
  expect(bytes: number): void;
  /** Has answers refused until the next check succeeds. */
  markUnreachable(error: unknown): void;
  /** Resolves when the first check is over. */
  checked(): Promise<void>;
  stop(): void;
}

/** Where a producer writes to. */
export interface ProducerTarget extends QueueTarget {
  /** Why the database in which the answers are finally stored may lose them, by its last check. */
  databaseReasons?(): readonly string[];
}

interface WatchDeps {
  connection: QueueConnection;
  target: ProducerTarget;
  config: Config;
  metrics: Metrics;
  log: Log;
  /** Called with the error of each check that failed. */
  onFailure(error: unknown): void;
  /** Called with the number of jobs, and of those in the registry of pending answers; only with Valkey or Redis. */
  onTally(tally: Tally): void;
}

/** The result of a check, and what confirmations may rest on from then on. */
interface Finding {
  health: QueueHealth;
  basis: Basis;
}

const NOT_REACHED: Finding = {
  health: { reachable: false, reasons: ['the queue was not reached yet'], relaxed: [], waitingJobs: 0 },
  basis: { isDurable: false },
};

const inMegabytes = (bytes: number): string => `${Math.round(bytes / MEGABYTE)} MB`;

const describeSize = ({ maxBytes }: Durability, queueBytes: number, limit: number): string =>
  maxBytes > 0
    ? `its memory is ${Math.round((queueBytes / limit) * 100)} % full`
    : `it holds ${inMegabytes(queueBytes)}, and may hold ${inMegabytes(limit * MAX_MEMORY_RATIO)} (QUEUE_MAX_MB)`;

/**
 * Checks each second whether the queue's store keeps what it confirms, and at once on every new connection: nothing is
 * taken on a connection that has not been checked, since another store may have the address now.
 */
export function watchHealth({ connection, target, config, metrics, log, onFailure, onTally }: WatchDeps): HealthWatch {
  const { redis, pool } = connection;
  const { databaseReasons = () => [] } = target;
  const throttle = createThrottle(5000);
  const readSentinels = createSentinelReader(target.redisUrl);
  const isStrict = config.QUEUE_DURABILITY === 'strict';
  const maxQueueBytes = config.QUEUE_MAX_MB * MEGABYTE;
  let finding = NOT_REACHED;
  /** What may be added before the queue is as large as it may be, by the last check, and what was added since. */
  let roomBytes = Number.POSITIVE_INFINITY;
  let unseenBytes = 0;
  /** The connection on which the append-only file was seen without a rewrite. */
  let provenSocket: unknown;

  const isCurrent = (socket: unknown) => !redis || (redis.status === 'ready' && redis.stream === socket);

  const markUnreachable = (error: unknown) => {
    const reason = `the queue can not be reached: ${(error as Error).message}`;
    const { waitingJobs } = finding.health;
    finding = {
      health: { reachable: false, reasons: [reason], relaxed: [], waitingJobs },
      basis: { isDurable: false },
    };
  };

  const measureJobs = async (queue: QueueName): Promise<{ active: number; all: number }> => {
    const counts = await countJobs(connection, queue);
    for (const [state, count] of Object.entries(counts)) metrics.queueJobs.set({ queue, state }, count);
    return { active: counts.active ?? 0, all: Object.values(counts).reduce((sum, count) => sum + count, 0) };
  };

  /** Why what the store confirms may not be on its disk, or not stay on that of the database. */
  const judgeDurability = (durability: Durability, socket: unknown): string[] => {
    const { reasons, isRewriting } = durability;
    if (reasons.length > 0) provenSocket = undefined;
    else if (!isRewriting) provenSocket = socket;
    const doubts = isRewriting && provenSocket !== socket ? [...reasons, REWRITING] : reasons;
    return [...new Set([...doubts, ...databaseReasons()])]; // one PostgreSQL may be both
  };

  /** Why the queue is as large as it may be. */
  const judgeSize = (durability: Durability, queueBytes: number, waitingJobs: number): string[] => {
    const limit = redis ? memoryLimit(durability, maxQueueBytes) : maxQueueBytes / MAX_MEMORY_RATIO;
    roomBytes = MAX_MEMORY_RATIO * limit - queueBytes;
    if (redis) metrics.redisMemory.set(queueBytes / limit);
    return [
      ...(roomBytes > 0 ? [] : [describeSize(durability, queueBytes, limit)]),
      ...(waitingJobs < config.QUEUE_MAX_JOBS ? [] : [`${waitingJobs} jobs are waiting`]),
    ];
  };

  const checkStore = (): Promise<Durability> =>
    redis ? checkRedis(redis) : checkPostgres(pool as NonNullable<typeof pool>);

  /** The size of the queue in bytes. In PostgreSQL it is estimated, once there are jobs enough to reach the limit. */
  const measureQueue = async ({ usedBytes }: Durability, waitingJobs: number): Promise<number> => {
    if (!pool) return usedBytes;
    return waitingJobs * LARGEST_JOB_BYTES < maxQueueBytes ? 0 : waitingJobs * (await measureJob(pool));
  };

  const check = async (): Promise<Finding> => {
    const seenBytes = unseenBytes;
    const socket = redis?.stream;
    const [durability, known, entries, ...jobs] = await Promise.all([
      checkStore(),
      config.QUEUE_REPLICAS > 0 ? readSentinels(socket) : undefined,
      redis ? countEntries(redis) : undefined,
      ...Object.values(QUEUES).map(measureJobs),
    ]);
    if (!isCurrent(socket)) throw new Error('the connection was replaced during its check');
    unseenBytes -= seenBytes;
    const waitingJobs = jobs.reduce((sum, { all }) => sum + all, 0);
    const active = jobs.reduce((sum, each) => sum + each.active, 0);
    if (entries !== undefined) onTally({ entries, idle: waitingJobs - active, active });
    const { replication, writesSucceed, isCluster } = durability;
    const queueBytes = await measureQueue(durability, waitingJobs);
    const doubts = judgeDurability(durability, socket);
    metrics.queueDurable.set(doubts.length === 0 && writesSucceed ? 1 : 0);
    const verdict = replication && (await judgeReplicas(replication, known, config.QUEUE_REPLICAS));
    const reasons = [
      ...(isStrict ? doubts : []),
      ...(writesSucceed ? [] : ['its last write to disk failed']),
      ...(isCluster ? [CLUSTERED] : []),
      ...(verdict?.reasons ?? []),
      ...judgeSize(durability, queueBytes, waitingJobs),
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

  const refresh = async () => {
    try {
      finding = await within(check(), PRODUCER_TIMEOUT_MS * 2, 'reading the state of the queue');
    } catch (error) {
      markUnreachable(error);
      onFailure(error);
    }
    const { reachable, reasons } = finding.health;
    metrics.queueTakesAnswers.set(reasons.length === 0 ? 1 : 0);
    if (redis) metrics.redisUp.set(reachable ? 1 : 0);
    if (reasons.length > 0) throttle('health', () => log.warn({ reasons }, 'the queue takes no answers'));
  };

  let isStopped = false;
  let isChecking = false;
  let timer: NodeJS.Timeout | undefined;
  const watch = async () => {
    clearTimeout(timer);
    isChecking = true;
    await refresh();
    isChecking = false;
    if (isStopped) return;
    timer = setTimeout(watch, finding.health.reachable ? CHECK_EVERY_MS : CHECK_AGAIN_MS);
  };
  const first = watch();
  redis?.on('ready', () => {
    if (!isChecking && !isStopped) void watch();
  });

  const current = (): QueueHealth => {
    const { health, basis } = finding;
    if (health.reasons.length > 0 || isCurrent(basis.socket)) return health;
    return { ...health, reasons: ['its connection was lost or is new, and the store was not checked again yet'] };
  };

  return {
    current,
    refusals() {
      const { reasons } = current();
      return unseenBytes > roomBytes ? [...reasons, 'it is as large as it may be'] : reasons;
    },
    basis: () => finding.basis,
    stillHolds: basis => isCurrent(basis.socket) && finding.basis.socket === basis.socket && finding.basis.isDurable,
    expect(bytes) {
      unseenBytes += bytes;
    },
    markUnreachable,
    checked: () => first,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
