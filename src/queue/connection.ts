import {
  type BackendFactory,
  createPostgresBackend,
  type IQueueBackend,
  type Job,
  Queue,
  type QueueOptions,
  runMigrations,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import type { Redis, RedisOptions } from 'ioredis';
import pg from 'pg';
import type { Log } from '../platform/log.ts';
import { createThrottle } from '../platform/log.ts';
import { outlive, withClient } from '../platform/postgres-client.ts';
import { DURABLE_COMMIT } from '../platform/postgres-durability.ts';
import { openRedis } from '../platform/redis.ts';
import { type IsolatedAnswer, QUEUES, type QueueName, type RecordAnswers } from './jobs.ts';
import { createPendingRegistry } from './pending-postgres.ts';

/** Where the queue lives. */
export interface QueueTarget {
  databaseUrl: string;
  redisUrl: string | undefined;
  /** With the queue in PostgreSQL: leaves `synchronous_commit` as the database has it (`QUEUE_DURABILITY=relaxed`). */
  relaxed?: boolean;
}

/** The schema of BullMQ's own tables, where PostgreSQL carries the queue. */
const SCHEMA = 'bullmq';

/** How long any command of a producer may take: a frozen store must become a 503, not a request that hangs. */
export const PRODUCER_TIMEOUT_MS = 1500;

const retryStrategy = (times: number): number => Math.min(50 * 2 ** Math.min(times, 6), 2000);

const shared: RedisOptions = {
  connectTimeout: 2000,
  keepAlive: 5000,
  retryStrategy,
};

/** After a failover the old primary replies READONLY until the client reconnects. */
const isReadOnly = (error: Error): boolean => error.message.startsWith('READONLY');

/**
 * For commands whose caller waits: they fail fast, and never queue up while the store is away.
 *
 * No command is sent again on another connection: a `WAIT` there would be confirmed by a store that lacks the write.
 * What was pending when the connection closed is rejected at once (`maxRetriesPerRequest: 0`).
 */
export const commandRedis = (url: string): Redis =>
  openRedis(url, {
    ...shared,
    reconnectOnError: error => (isReadOnly(error) ? 1 : false),
    enableOfflineQueue: false,
    commandTimeout: PRODUCER_TIMEOUT_MS,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  });

/** For BullMQ's blocking reads: they wait for the store as long as it takes. */
export const blockingRedis = (url: string): Redis =>
  openRedis(url, {
    ...shared,
    reconnectOnError: error => (isReadOnly(error) ? 2 : false), // 2: the command is sent again
    maxRetriesPerRequest: null,
  });

/**
 * Settings are statements, and not the connection's own options, which a pooler in session mode refuses.
 *
 * A commit waits for the disk whatever server, database and role say: each connection would have its own answer, from the
 * moment at which it was opened, and the one that is checked is not the one that adds a job.
 */
const pool = (
  { databaseUrl, relaxed }: QueueTarget,
  max: number,
  statementTimeoutMs: number,
  timeouts: pg.PoolConfig,
): pg.Pool =>
  new pg.Pool({
    connectionString: databaseUrl,
    max,
    onConnect: client =>
      client.query(
        `set search_path = ${SCHEMA}; set statement_timeout = ${statementTimeoutMs}${
          relaxed ? '' : `; select set_config('synchronous_commit', ${DURABLE_COMMIT}, false)`
        }`,
      ),
    keepAlive: true,
    application_name: 'parley_queue',
    ...timeouts,
  }).on('connect', outlive);

const PRODUCER_TIMEOUTS: pg.PoolConfig = { connectionTimeoutMillis: 2000, query_timeout: PRODUCER_TIMEOUT_MS };

/** Nobody waits for a worker; but its locks must be renewed in time, behind whatever else waits for a connection. */
const WORKER_TIMEOUTS: pg.PoolConfig = { connectionTimeoutMillis: 5000 };
const NO_TIMEOUT = 0;

/** What a job carries. Nobody knows that it is so before it was checked. */
export type Carried = RecordAnswers | IsolatedAnswer;
export type AnyQueue = Queue<Carried, unknown, string, Carried, unknown, string, IQueueBackend>;
type AnyWorker = Worker<Carried, void, string, IQueueBackend>;
type AnyJob = Job<Carried, void, string>;

/** A connection to the store, of one kind or the other, and how to end it at once. */
export interface QueueConnection {
  /** A queue. Made anew until the store was reached once: BullMQ does not recover from a first attempt that failed. */
  queue(name?: QueueName): AnyQueue;
  redis: Redis | undefined;
  pool: pg.Pool | undefined;
  close(): Promise<void>;
}

/** A factory typed for either backend: BullMQ's types name one, its behaviour is the same. */
const backend = createPostgresBackend as unknown as BackendFactory<IQueueBackend, unknown>;

/** An error's message without the ids of jobs: after a freeze each of fifty jobs fails with a message of its own. */
const kindOf = ({ message }: Error): string => message.replace(/\b(job|key) \S+/g, '$1');

/** Logs the errors of a connection, at most a line of a kind every 5 s; its absence shows in `/readyz` and the metrics. */
export const reportErrors = (log: Log, what: string) => {
  const throttle = createThrottle(5000);
  return (error: Error) =>
    throttle(kindOf(error), held => log.warn({ reason: error.message, held_back: held }, `${what} failed`));
};

/** How many connections to PostgreSQL add and read jobs at most, where it carries the queue. */
const CONNECTIONS = 4;

/** The queues for adding and reading jobs, over one connection; in PostgreSQL over `connections` at most. */
export function connectQueue(target: QueueTarget, log: Log, connections = CONNECTIONS): QueueConnection {
  const report = reportErrors(log, 'queue connection');
  return target.redisUrl ? onRedis(target.redisUrl, report) : onPostgres(target, connections, report);
}

/** BullMQ's own check of each connection is left out: it waits for a store that is away. */
const QUEUE_OPTIONS: Omit<QueueOptions, 'connection'> = { skipWaitingForReady: true };

function onRedis(url: string, report: (error: Error) => void): QueueConnection {
  const redis = commandRedis(url).on('error', report);
  const opened = new Map<QueueName, AnyQueue>();
  const open = (name: QueueName): AnyQueue => {
    const queue = new Queue(name, { ...QUEUE_OPTIONS, connection: redis }) as unknown as AnyQueue;
    opened.set(name, queue.on('error', report));
    return queue;
  };
  return {
    queue: (name = QUEUES.answers) => {
      if (redis.status !== 'ready') throw new Error(`its connection is ${redis.status}`);
      return opened.get(name) ?? open(name);
    },
    redis,
    pool: undefined,
    close: async () => {
      redis.disconnect(); // first: BullMQ's own close waits for an answer that a store that is away never gives
      for (const queue of opened.values()) await queue.close();
    },
  };
}

function onPostgres(target: QueueTarget, most: number, report: (error: Error) => void): QueueConnection {
  const connections = pool(target, most, PRODUCER_TIMEOUT_MS, PRODUCER_TIMEOUTS).on('error', report);
  const Connected = Queue as unknown as new (name: string, options: unknown, backend: unknown) => AnyQueue;
  const opened = new Map<QueueName, AnyQueue>();
  const open = (name: QueueName): AnyQueue => {
    const queue = new Connected(name, { ...QUEUE_OPTIONS, connection: connections }, backend);
    opened.set(name, queue.on('error', report));
    queue.waitUntilReady().catch(() => {
      if (opened.get(name) === queue) opened.delete(name); // the next caller tries anew; this one's command rejects with the cause
    });
    return queue;
  };
  return {
    queue: (name = QUEUES.answers) => opened.get(name) ?? open(name),
    redis: undefined,
    pool: connections,
    close: async () => {
      for (const queue of opened.values()) await queue.close();
      await connections.end();
    },
  };
}

export interface WorkerConnection {
  worker: AnyWorker;
  /** Ends the connections at once; the worker must have been closed, or given up. */
  disconnect(): Promise<void>;
}

/** A job as a worker holds it. */
export type HeldJob = Pick<
  AnyJob,
  'id' | 'name' | 'data' | 'processedOn' | 'attemptsMade' | 'stalledCounter' | 'progress' | 'updateProgress'
>;

/** A worker that takes jobs from a queue. */
export function connectWorker(
  target: QueueTarget,
  name: QueueName,
  process: (job: HeldJob) => Promise<void>,
  options: Omit<WorkerOptions, 'connection'>,
  log: Log,
): WorkerConnection {
  const report = reportErrors(log, 'worker connection');
  if (target.redisUrl) {
    const redis = blockingRedis(target.redisUrl).on('error', report);
    const worker = new Worker(name, process, { ...options, connection: redis }) as unknown as AnyWorker;
    worker.on('error', report);
    return { worker, disconnect: async () => redis.disconnect() };
  }
  const size = name === QUEUES.isolation ? 3 : 8;
  const connections = pool(target, size, NO_TIMEOUT, WORKER_TIMEOUTS).on('error', report);
  const Connected = Worker as unknown as new (
    name: string,
    process: unknown,
    options: unknown,
    backend: unknown,
  ) => AnyWorker;
  const worker = new Connected(name, process, { ...options, connection: connections }, backend);
  worker.on('error', report);
  return { worker, disconnect: () => connections.end() };
}

/** Makes or upgrades BullMQ's tables in PostgreSQL; nothing to do where Valkey or Redis carries the queue. */
export async function migrateQueue(target: QueueTarget): Promise<void> {
  if (target.redisUrl) return;
  await withClient(target.databaseUrl, async client => {
    await runMigrations(client, SCHEMA);
    await createPendingRegistry(client);
  });
}
