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
import { outlive, readsUrl, withDirectClient } from '../platform/postgres-client.ts';
import { DURABLE_COMMIT } from '../platform/postgres-durability.ts';
import { SESSION_SETTINGS } from '../platform/postgres-session.ts';
import { openRedis } from '../platform/redis.ts';
import type { DatabaseUrl, RedisUrl } from '../platform/store-urls.ts';
import { type IsolatedAnswer, QUEUES, type QueueName, type RecordAnswers } from './jobs.ts';
import { createPendingRegistry } from './pending-postgres.ts';
import { grantsTo, SCHEMA, workerRole } from './privileges.ts';

/** The store of the queue. */
export interface QueueTarget {
  databaseUrl: DatabaseUrl;
  redisUrl: RedisUrl | undefined;
  /** With the queue in PostgreSQL: keeps the database's `synchronous_commit` (`QUEUE_DURABILITY=relaxed`). */
  relaxed?: boolean;
}

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
 * For commands with a waiting caller: they fail fast and never queue up while the store is unreachable.
 *
 * Commands are not resent on another connection: a `WAIT` there would be confirmed by a store that lacks the write.
 * Commands pending when the connection closes are rejected at once (`maxRetriesPerRequest: 0`).
 */
export const commandRedis = (url: RedisUrl): Redis =>
  openRedis(url, {
    ...shared,
    reconnectOnError: error => (isReadOnly(error) ? 1 : false),
    enableOfflineQueue: false,
    commandTimeout: PRODUCER_TIMEOUT_MS,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  });

/** For BullMQ's blocking reads: they wait for the store indefinitely. */
export const blockingRedis = (url: RedisUrl): Redis =>
  openRedis(url, {
    ...shared,
    reconnectOnError: error => (isReadOnly(error) ? 2 : false), // 2: the command is resent
    maxRetriesPerRequest: null,
  });

/** Assumes a role if the connection's user, a mere member of it, has no rights to the queue itself. */
const assumeRole = (role: string): string =>
  `select set_config('role', '${role}', false)
   where not coalesce(has_schema_privilege(to_regnamespace('${SCHEMA}'), 'usage'), false)`;

/**
 * Settings are sent as statements, because poolers in session mode refuse connection options.
 *
 * `synchronous_commit` is set on every connection. Otherwise server, database and role could each change it between
 * connections, and the connection that is checked is not the one that adds a job.
 */
const pool = (
  { databaseUrl, relaxed }: QueueTarget,
  max: number,
  statementTimeoutMs: number,
  timeouts: pg.PoolConfig,
): pg.Pool =>
  new pg.Pool({
    ...readsUrl(databaseUrl, true),
    max,
    onConnect: client =>
      client.query(
        `${SESSION_SETTINGS}; ${assumeRole(workerRole(databaseUrl))}; set search_path = ${SCHEMA}; set statement_timeout = ${statementTimeoutMs}${
          relaxed ? '' : `; select set_config('synchronous_commit', ${DURABLE_COMMIT}, false)`
        }`,
      ),
    keepAlive: true,
    application_name: 'parley_queue',
    ...timeouts,
  }).on('connect', outlive);

const PRODUCER_TIMEOUTS: pg.PoolConfig = { connectionTimeoutMillis: 2000, query_timeout: PRODUCER_TIMEOUT_MS };

/**
 * Worker requests have no waiting caller. But locks must be renewed in time, behind others that wait for a connection.
 */
const WORKER_TIMEOUTS: pg.PoolConfig = { connectionTimeoutMillis: 5000 };
const NO_TIMEOUT = 0;

/** The data of a job. Unchecked: validate it before use. */
export type JobData = RecordAnswers | IsolatedAnswer;
export type AnyQueue = Queue<JobData, unknown, string, JobData, unknown, string, IQueueBackend>;
type AnyWorker = Worker<JobData, void, string, IQueueBackend>;
type AnyJob = Job<JobData, void, string>;

/** A connection to either kind of store. */
export interface QueueConnection {
  /**
   * Returns a queue. Creates it again until the store was reached once: BullMQ does not recover from a failed first
   * attempt.
   */
  queue(name?: QueueName): AnyQueue;
  redis: Redis | undefined;
  pool: pg.Pool | undefined;
  close(): Promise<void>;
}

/** A factory typed for either backend. BullMQ's types name one; the behaviour is the same. */
const backend = createPostgresBackend as unknown as BackendFactory<IQueueBackend, unknown>;

/** An error's message without job ids: after a freeze, each of fifty jobs fails with a different message. */
const kindOf = ({ message }: Error): string => message.replace(/\b(job|key) \S+/g, '$1');

/**
 * Logs connection errors, at most one line per kind every 5 s. The outage itself shows in `/readyz` and the metrics.
 */
export const reportErrors = (log: Log, what: string) => {
  const throttle = createThrottle(5000);
  return (error: Error) =>
    throttle(kindOf(error), held => log.warn({ reason: error.message, held_back: held }, `${what} failed`));
};

/** Maximum connections to PostgreSQL for adding and reading jobs, where it stores the queue. */
const CONNECTIONS = 4;

/** Returns the queues for adding and reading jobs, over one connection; in PostgreSQL over at most `connections`. */
export function connectQueue(target: QueueTarget, log: Log, connections = CONNECTIONS): QueueConnection {
  const report = reportErrors(log, 'queue connection');
  return target.redisUrl ? onRedis(target.redisUrl, report) : onPostgres(target, connections, report);
}

/** BullMQ's own check of each connection is skipped: it waits for an unreachable store. */
const QUEUE_OPTIONS: Omit<QueueOptions, 'connection'> = { skipWaitingForReady: true };

function onRedis(url: RedisUrl, report: (error: Error) => void): QueueConnection {
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
      redis.disconnect(); // first: BullMQ's close waits for a reply that an unreachable store never sends
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
      if (opened.get(name) === queue) opened.delete(name); // the next caller retries; this one's command rejects with the cause
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
  /** Closes the connections at once. The worker must have been closed or abandoned before. */
  disconnect(): Promise<void>;
}

/** A job that a worker is processing. */
export type ActiveJob = Pick<
  AnyJob,
  'id' | 'name' | 'data' | 'processedOn' | 'attemptsMade' | 'stalledCounter' | 'progress' | 'updateProgress'
>;

/** A worker that consumes jobs from a queue. */
export function connectWorker(
  target: QueueTarget,
  name: QueueName,
  process: (job: ActiveJob) => Promise<void>,
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
  const size = name === QUEUES.answers ? 8 : 3;
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

/** One process at a time migrates the queue, on any machine. */
const MIGRATION_LOCK = 7_310_274_003;

/** Creates or upgrades BullMQ's tables in PostgreSQL. Not needed where Valkey or Redis stores the queue. */
export async function migrateQueue(target: QueueTarget): Promise<void> {
  if (target.redisUrl) return;
  await withDirectClient(target.databaseUrl, async client => {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]); // ends with the connection
    await runMigrations(client, SCHEMA);
    await createPendingRegistry(client);
    await client.query(grantsTo(workerRole(target.databaseUrl)));
  });
}
