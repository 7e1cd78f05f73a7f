import { setTimeout as sleep } from 'node:timers/promises';
import { createThrottle, type Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { withTimeout } from '../platform/timeouts.ts';
import { type ActiveJob, connectWorker, type QueueTarget, type WorkerConnection } from './connection.ts';
import { createJobLeases } from './job-leases.ts';
import type { QueueName } from './jobs.ts';
import { createOutageBackoff } from './outage-backoff.ts';
import { createPollSpacing } from './poll-spacing.ts';

/** Jobs of an unresponsive worker pass to others after this time. It is short because inserts are short. */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 3000;
/** The last resort for jobs that kill even the process that moves them to isolation: they end as `failed`. */
const MAX_STALLED = 20;
const CLOSE_TIMEOUT_MS = 12_000;
const LONGEST_DELAY_MS = 60_000;
const RECONNECT_MS = 500;

/**
 * Returns the delay before attempt `n + 1` of a job that was returned to the queue: 1 s, 2 s, 4 s … up to 60 s, without
 * end.
 *
 * A failure never ends a job. Jittered by a fifth, so that jobs which failed together are spread out.
 */
export function retryDelay(attemptsMade: number, random: () => number = Math.random): number {
  const delay = Math.min(1000 * 2 ** Math.min(attemptsMade - 1, 10), LONGEST_DELAY_MS);
  return Math.round(delay * (0.8 + 0.4 * random()));
}

/** Jobs fetched at once before the first has shown how long fetching takes. */
const FIRST_CONCURRENCY = 10;

/**
 * Returns how many jobs may be held at once when fetching one took `tookMs`, at most `most`.
 *
 * BullMQ fetches jobs one after the other up to its concurrency, and only then starts the first. Over a slow network,
 * the first locks would expire meanwhile, so all jobs must be fetched in half the lock time.
 */
export const sustainableConcurrency = (tookMs: number, most: number): number =>
  Math.max(1, Math.min(most, Math.floor(LOCK_MS / 2 / Math.max(1, tookMs))));

/** The consumer of one queue in this process. */
export interface QueueConsumer {
  /**
   * Stops fetching jobs, finishes those in progress, returns those that wait for an outage to end, then disconnects.
   */
  close(): Promise<void>;
}

export interface QueueConsumerOptions {
  target: QueueTarget;
  queue: QueueName;
  /** Jobs held at once, if the network is fast enough. */
  concurrency: number;
  process(job: ActiveJob): Promise<void>;
}

/**
 * Consumes the jobs of one queue. Failed jobs are retried until they succeed.
 *
 * During an outage, jobs in progress are kept and retried, and the others stay in the queue.
 *
 * Resolves when jobs are being consumed. Waits for an unreachable store until the signal is aborted.
 */
export async function openQueueConsumer(
  { target, queue, concurrency, process }: QueueConsumerOptions,
  { log, metrics, signal }: { log: Log; metrics: Metrics; signal: AbortSignal },
): Promise<QueueConsumer | undefined> {
  const throttle = createThrottle(5000);
  const backoff = createOutageBackoff();
  const leases = createJobLeases();
  let closing = false;
  const options = {
    autorun: false,
    concurrency: Math.min(concurrency, FIRST_CONCURRENCY),
    lockDuration: LOCK_MS,
    stalledInterval: STALLED_CHECK_MS,
    runRetryDelay: RECONNECT_MS, // BullMQ's default is 15 s, which would delay jobs when the store is back
    maxStalledCount: MAX_STALLED,
    settings: { backoffStrategy: (attemptsMade: number) => (closing ? 0 : retryDelay(attemptsMade)) },
  };

  /** Reconnects until the first success: BullMQ does not recover from a failed first attempt. */
  const connect = async (): Promise<WorkerConnection | undefined> => {
    while (!signal.aborted) {
      const begin = (job: ActiveJob) => {
        spacing.setConcurrency(sustainableConcurrency(Date.now() - (job.processedOn ?? Date.now()), concurrency));
        const { isLost, end } = leases.acquire(job.id ?? '');
        return backoff
          .run(() => process(job), isLost)
          .then(spacing.pauseEnded)
          .finally(end);
      };
      const connection = connectWorker(target, queue, begin, options, log);
      const spacing = createPollSpacing(connection.worker);
      const aborted = new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('shut down while waiting for the queue')), {
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
    metrics.jobsStalled.inc({ queue });
    log.warn({ queue, job: jobId }, 'job taken over from an unresponsive worker');
  });
  worker.on('lockRenewalFailed', jobIds => {
    leases.markLost(jobIds);
    log.warn({ queue, jobs: jobIds.length }, 'jobs of this worker were taken over by other workers');
  });
  // Not caught, so that the process ends and is restarted: it would stay up without fetching another job.
  worker.run().catch(cause => {
    if (!closing) throw new Error(`The consumer of the queue ${queue} failed.`, { cause });
  });

  return {
    async close() {
      closing = true; // returned jobs are available to others at once
      backoff.release();
      try {
        await withTimeout(worker.close(), CLOSE_TIMEOUT_MS, 'finishing running jobs');
      } finally {
        await disconnect();
      }
    },
  };
}
