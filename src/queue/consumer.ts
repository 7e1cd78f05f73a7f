import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../domain/problem.ts';
import { createThrottle, type Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { within } from '../platform/shutdown.ts';
import { connectWorker, QUEUE_NAME, type QueueTarget, type WorkerConnection } from './connection.ts';
import { type Handlers, JOBS, type JobName } from './jobs.ts';

/** How many jobs one worker process holds at once; their answers are stored together. */
const CONCURRENCY = 20;
/** A worker that falls silent loses its jobs after this long; inserts are short, so it is short. */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 3000;
/** A job that a dying process took along is not its fault: it is handed out again up to this often. */
const MAX_STALLED = 20;
const CLOSE_WITHIN_MS = 12_000;
const LONGEST_DELAY_MS = 60_000;
const RECONNECT_MS = 500;

/**
 * How long to wait before attempt `n + 1` when a part of the infrastructure is down: 1 s, 2 s, 4 s … at most 60 s,
 * without end.
 *
 * An outage is never the answer's fault, so it never ends a job. Jittered by a fifth, so that a database that comes
 * back is not met by every worker in the same second.
 */
export function retryDelay(attemptsMade: number, random: () => number = Math.random): number {
  const delay = Math.min(1000 * 2 ** Math.min(attemptsMade - 1, 10), LONGEST_DELAY_MS);
  return Math.round(delay * (0.8 + 0.4 * random()));
}

export interface Consumer {
  /** Takes no further jobs, ends those under way, then the connection. */
  close(): Promise<void>;
}

/**
 * Hands every job to its handler; a job whose handler fails is tried again until it succeeds.
 *
 * Resolves when jobs are being taken; waits for a store that is away until the signal ends the waiting.
 */
export async function openConsumer(
  target: QueueTarget,
  handlers: Handlers,
  { log, metrics, signal }: { log: Log; metrics: Metrics; signal: AbortSignal },
): Promise<Consumer | undefined> {
  const throttle = createThrottle(5000);

  const process = async (job: { name: string; data: unknown; attemptsMade: number; id?: string }) => {
    const startedAt = performance.now();
    let outcome = 'done';
    try {
      await dispatch(handlers, job.name, job.data);
    } catch (error) {
      outcome = 'retried';
      metrics.jobRetries.inc({ queue: QUEUE_NAME });
      report(job.id, error);
      throw error;
    } finally {
      metrics.jobDuration.observe({ queue: QUEUE_NAME, outcome }, (performance.now() - startedAt) / 1000);
    }
  };

  /** An outage is one throttled line; whatever else is a bug, told with its stack. */
  const report = (jobId: string | undefined, error: unknown) => {
    const passing = error instanceof Problem && error.kind === 'unavailable';
    throttle(passing ? error.code : String(error), held => {
      if (passing)
        log.warn({ job: jobId, reason: error.message, held_back: held }, 'a job waits for the infrastructure');
      else log.error({ job: jobId, err: error, held_back: held }, 'a job failed and is tried again');
    });
  };

  const options = {
    autorun: false,
    concurrency: CONCURRENCY,
    lockDuration: LOCK_MS,
    stalledInterval: STALLED_CHECK_MS,
    maxStalledCount: MAX_STALLED,
    settings: { backoffStrategy: (attemptsMade: number) => retryDelay(attemptsMade) },
  };

  /** Connects anew until it worked once: BullMQ does not recover from a first attempt that failed. */
  const connect = async (): Promise<WorkerConnection | undefined> => {
    while (!signal.aborted) {
      const connection = connectWorker(target, process, options, log);
      const aborted = new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('stopped while waiting for the queue')), {
          once: true,
        }),
      );
      try {
        await Promise.race([connection.worker.waitUntilReady(), aborted]);
        return connection;
      } catch (error) {
        throttle('connect', () => log.warn({ reason: (error as Error).message }, 'waiting for the queue'));
        await connection.disconnect();
        if (!signal.aborted) await sleep(RECONNECT_MS);
      }
    }
    return undefined;
  };

  const connection = await connect();
  if (!connection) return undefined;
  const { worker, disconnect } = connection;
  worker.on('stalled', jobId => {
    metrics.jobsStalled.inc({ queue: QUEUE_NAME });
    log.warn({ job: jobId }, 'a job was taken over from a worker that went silent');
  });
  worker.run().catch(error => log.error({ err: error }, 'taking jobs has ended with a failure'));

  return {
    async close() {
      try {
        await within(worker.close(), CLOSE_WITHIN_MS, 'ending the jobs under way');
      } finally {
        await disconnect();
      }
    },
  };
}

/** The handler of a job with its payload checked. An unknown name or version is left to a worker that knows it. */
async function dispatch(handlers: Handlers, name: string, data: unknown): Promise<void> {
  if (!Object.hasOwn(JOBS, name)) throw new Error(`this worker does not know the job ${name}`);
  const jobName = name as JobName;
  await handlers[jobName](JOBS[jobName].parse(data));
}
