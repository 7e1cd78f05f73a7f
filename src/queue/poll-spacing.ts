import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerConnection } from './connection.ts';

/** Minimum time between two polls of an empty queue. Jobs that arrive meanwhile are fetched and stored together. */
export const POLL_SPACING_MS = 70;
/** The marker for BullMQ that no job is to be fetched any more. */
const NEVER = { member: '', score: Number.POSITIVE_INFINITY };

/** Controls when a worker polls its queue, and how many jobs it may hold. */
export interface PollSpacing {
  /** Sets the maximum number of jobs that the worker may hold, from its next poll on. */
  setConcurrency(jobs: number): void;
  /** Resolves when the worker may poll again. Completed jobs are then reported in one batch. */
  pauseEnded(): Promise<void>;
}

/**
 * Spaces a worker's polls of its queue.
 *
 * BullMQ waits for each job separately, looks for others at the same time, and polls again after each job that it
 * finishes. When a job arrives every few milliseconds and is stored together with others, most of these polls find an
 * empty queue, and each costs the store work. So polls of an empty queue are paused briefly, including those after a
 * finished job. A queue with waiting jobs is not delayed, and neither is a single job.
 */
export function createPollSpacing(worker: WorkerConnection['worker']): PollSpacing {
  const { backend } = worker;
  const waitForJob = backend.waitForJob.bind(backend);
  let allowed = worker.concurrency;
  let pausing: Promise<void> | undefined;
  let polledAt = Number.NEGATIVE_INFINITY;

  const pause = async (ms: number) => {
    worker.concurrency = 1; // after finishing a job, BullMQ fetches another only while fewer jobs are held
    pausing = sleep(ms);
    await pausing;
    pausing = undefined;
    worker.concurrency = allowed;
  };

  // BullMQ calls this when it finds the queue empty, and polls again when it resolves.
  backend.waitForJob = async limitSeconds => {
    const earlyMs = polledAt + POLL_SPACING_MS - performance.now();
    if (earlyMs > 0) await pause(earlyMs);
    if (worker.closing) return NEVER;
    const marker = await waitForJob(limitSeconds);
    polledAt = performance.now();
    return marker;
  };

  return {
    setConcurrency(jobs) {
      allowed = jobs;
      if (!pausing) worker.concurrency = jobs;
    },
    pauseEnded: async () => pausing,
  };
}
