import { setTimeout as sleep } from 'node:timers/promises';
import { createThrottle, type Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { within } from '../platform/shutdown.ts';
import { connectWorker, type HeldJob, type QueueTarget, type WorkerConnection } from './connection.ts';
import { createGrip } from './grip.ts';
import { createHold } from './hold.ts';
import type { QueueName } from './jobs.ts';
import { createPace } from './pace.ts';

/** A worker that falls silent loses its jobs after this long; inserts are short, so it is short. */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 3000;
/** The last resort, for what kills even the process that only moves it to the isolation: it ends as `failed`. */
const MAX_STALLED = 20;
const CLOSE_WITHIN_MS = 12_000;
const LONGEST_DELAY_MS = 60_000;
const RECONNECT_MS = 500;

/**
 * How long to wait before attempt `n + 1` of a job that was put back: 1 s, 2 s, 4 s … at most 60 s, without end.
 *
 * A failure never ends a job. Jittered by a fifth, so that jobs which failed together do not meet again.
 */
export function retryDelay(attemptsMade: number, random: () => number = Math.random): number {
  const delay = Math.min(1000 * 2 ** Math.min(attemptsMade - 1, 10), LONGEST_DELAY_MS);
  return Math.round(delay * (0.8 + 0.4 * random()));
}

/** How many jobs are taken at once before one has shown how long that takes. */
const FIRST_CONCURRENCY = 10;

/**
 * How many jobs may be held at once when taking one took so long, at most `most`.
 *
 * BullMQ takes jobs one after the other until it holds as many as it may, and only then begins with the first. Over a
 * slow network the locks of those it took first would end meanwhile, so all of them have to be taken in half that time.
 */
export const sustainable = (tookMs: number, most: number): number =>
  Math.max(1, Math.min(most, Math.floor(LOCK_MS / 2 / Math.max(1, tookMs))));

/** A process at work on one queue. */
export interface Line {
  /** Takes no further jobs, ends those under way, hands back those that an outage keeps waiting; then the connection. */
  close(): Promise<void>;
}

export interface LineOptions {
  target: QueueTarget;
  queue: QueueName;
  /** How many jobs are held at once, where the network is fast enough for it. */
  concurrency: number;
  process(job: HeldJob): Promise<void>;
}

/**
 * Takes the jobs of one queue; one whose processing fails is tried again until it succeeds.
 *
 * During an outage those under way are held, and others stay where they are.
 *
 * Resolves when jobs are being taken; waits for a store that is away until the signal ends the waiting.
 */
export async function openLine(
  { target, queue, concurrency, process }: LineOptions,
  { log, metrics, signal }: { log: Log; metrics: Metrics; signal: AbortSignal },
): Promise<Line | undefined> {
  const throttle = createThrottle(5000);
  const hold = createHold();
  const grip = createGrip();
  let closing = false;
  const options = {
    autorun: false,
    concurrency: Math.min(concurrency, FIRST_CONCURRENCY),
    lockDuration: LOCK_MS,
    stalledInterval: STALLED_CHECK_MS,
    runRetryDelay: RECONNECT_MS, // by itself 15 s: so long nothing would be taken when the store is back
    maxStalledCount: MAX_STALLED,
    settings: { backoffStrategy: (attemptsMade: number) => (closing ? 0 : retryDelay(attemptsMade)) },
  };

  /** Connects anew until it worked once: BullMQ does not recover from a first attempt that failed. */
  const connect = async (): Promise<WorkerConnection | undefined> => {
    while (!signal.aborted) {
      const begin = (job: HeldJob) => {
        pace.allow(sustainable(Date.now() - (job.processedOn ?? Date.now()), concurrency));
        const { isLost, end } = grip.take(job.id ?? '');
        return hold
          .run(() => process(job), isLost)
          .then(pace.rested)
          .finally(end);
      };
      const connection = connectWorker(target, queue, begin, options, log);
      const pace = createPace(connection.worker);
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
    grip.lose(jobIds);
    log.warn({ queue, jobs: jobIds.length }, 'jobs of this worker were taken over by other workers');
  });
  worker.run().catch(error => log.error({ queue, err: error }, 'queue consumer failed'));

  return {
    async close() {
      closing = true; // what is handed back is for others at once
      hold.release();
      try {
        await within(worker.close(), CLOSE_WITHIN_MS, 'finishing running jobs');
      } finally {
        await disconnect();
      }
    },
  };
}
