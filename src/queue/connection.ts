import {
  type BackendFactory,
  createPostgresBackend,
  type IQueueBackend,
  Queue,
  type QueueOptions,
  runMigrations,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import pg from 'pg';
import type { Log } from '../platform/log.ts';
import { createThrottle } from '../platform/log.ts';
import type { RecordAnswers } from './jobs.ts';

/** Where the queue lives. */
export interface QueueTarget {
  databaseUrl: string;
  redisUrl: string | undefined;
}

/** The name of the one queue. */
export const QUEUE_NAME = 'answers';

/** The schema of BullMQ's own tables, where PostgreSQL carries the queue. */
const SCHEMA = 'bullmq';

/** How long any command of a producer may take: a frozen store must become a 503, not a request that hangs. */
export const PRODUCER_TIMEOUT_MS = 1500;

const retryStrategy = (times: number): number => Math.min(50 * 2 ** Math.min(times, 6), 2000);

const shared: RedisOptions = {
  connectTimeout: 2000,
  keepAlive: 5000,
  retryStrategy,
  // After a failover the old primary answers READONLY until one connects anew (2: and sends the command again).
  reconnectOnError: error => (error.message.startsWith('READONLY') ? 2 : false),
};

/** For commands whose caller waits: they fail fast, and never queue up while the store is away. */
export const commandRedis = (url: string): Redis =>
  new Redis(url, {
    ...shared,
    enableOfflineQueue: false,
    commandTimeout: PRODUCER_TIMEOUT_MS,
    maxRetriesPerRequest: 1,
  });

/** For BullMQ's blocking reads: they wait for the store as long as it takes. */
export const blockingRedis = (url: string): Redis => new Redis(url, { ...shared, maxRetriesPerRequest: null });

const pool = (url: string, max: number, timeoutMs: number | undefined): pg.Pool =>
  new pg.Pool({
    connectionString: url,
    max,
    options: `-c search_path=${SCHEMA}`,
    connectionTimeoutMillis: 2000,
    keepAlive: true,
    application_name: 'parley_queue',
    ...(timeoutMs ? { query_timeout: timeoutMs, statement_timeout: timeoutMs } : {}),
  });

type AnyQueue = Queue<RecordAnswers, unknown, string, RecordAnswers, unknown, string, IQueueBackend>;
type AnyWorker = Worker<RecordAnswers, void, string, IQueueBackend>;

/** A connection to the store, of one kind or the other, and how to end it at once. */
export interface QueueConnection {
  /** The queue. Made anew until the store was reached once: BullMQ does not recover from a first attempt that failed. */
  queue(): AnyQueue;
  redis: Redis | undefined;
  pool: pg.Pool | undefined;
  close(): Promise<void>;
}

/** A factory typed for either backend: BullMQ's types name one, its behaviour is the same. */
const backend = createPostgresBackend as unknown as BackendFactory<IQueueBackend, unknown>;

/** Reports what a connection complains of, at most a line every 5 s; its absence shows in `/readyz` and the metrics. */
const reportErrors = (log: Log, what: string) => {
  const throttle = createThrottle(5000);
  return (error: Error) =>
    throttle(error.message, held => log.warn({ reason: error.message, held_back: held }, `${what} failed`));
};

/** The queue for adding and reading jobs. */
export function connectQueue(target: QueueTarget, log: Log): QueueConnection {
  const options: Omit<QueueOptions, 'connection'> = { skipWaitingForReady: true };
  const report = reportErrors(log, 'the queue connection');
  if (target.redisUrl) {
    const redis = commandRedis(target.redisUrl).on('error', report);
    let queue: AnyQueue | undefined;
    redis.once('ready', () => {
      queue = new Queue(QUEUE_NAME, { ...options, connection: redis }) as unknown as AnyQueue;
      queue.on('error', report);
    });
    return {
      queue: () => {
        if (!queue || redis.status !== 'ready') throw new Error(`its connection is ${redis.status}`);
        return queue;
      },
      redis,
      pool: undefined,
      close: async () => {
        redis.disconnect(); // first: BullMQ's own close waits for an answer that a store that is away never gives
        await queue?.close();
      },
    };
  }
  const connections = pool(target.databaseUrl, 4, PRODUCER_TIMEOUT_MS).on('error', report);
  const Connected = Queue as unknown as new (name: string, options: unknown, backend: unknown) => AnyQueue;
  let queue: AnyQueue | undefined;
  const open = (): AnyQueue => {
    const opened = new Connected(QUEUE_NAME, { ...options, connection: connections }, backend);
    opened.on('error', report);
    opened.waitUntilReady().catch(() => {
      if (queue === opened) queue = undefined; // the next caller tries anew; this one's command rejects with the cause
    });
    return opened;
  };
  return {
    queue: () => {
      queue ??= open();
      return queue;
    },
    redis: undefined,
    pool: connections,
    close: async () => {
      await queue?.close();
      await connections.end();
    },
  };
}

export interface WorkerConnection {
  worker: AnyWorker;
  /** Ends the connections at once; the worker must have been closed, or given up. */
  disconnect(): Promise<void>;
}

/** A worker that takes jobs from the queue. */
export function connectWorker(
  target: QueueTarget,
  process: (job: { name: string; data: unknown; attemptsMade: number; id?: string }) => Promise<void>,
  options: Omit<WorkerOptions, 'connection'>,
  log: Log,
): WorkerConnection {
  const report = reportErrors(log, 'the worker connection');
  if (target.redisUrl) {
    const redis = blockingRedis(target.redisUrl).on('error', report);
    const worker = new Worker(QUEUE_NAME, process, { ...options, connection: redis }) as unknown as AnyWorker;
    worker.on('error', report);
    return { worker, disconnect: async () => redis.disconnect() };
  }
  const connections = pool(target.databaseUrl, 6, undefined).on('error', report);
  const Connected = Worker as unknown as new (
    name: string,
    process: unknown,
    options: unknown,
    backend: unknown,
  ) => AnyWorker;
  const worker = new Connected(QUEUE_NAME, process, { ...options, connection: connections }, backend);
  worker.on('error', report);
  return { worker, disconnect: () => connections.end() };
}

/** Makes or upgrades BullMQ's tables in PostgreSQL; nothing to do where Valkey or Redis carries the queue. */
export async function migrateQueue(target: QueueTarget): Promise<void> {
  if (target.redisUrl) return;
  const client = new pg.Client({ connectionString: target.databaseUrl });
  await client.connect();
  try {
    await runMigrations(client, SCHEMA);
  } finally {
    await client.end();
  }
}
