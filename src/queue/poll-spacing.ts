import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerConnection } from './connection.ts';

/** The least time between two looks into a queue that was found empty: what arrives meanwhile is taken together, and stored together. */
export const POLL_SPACING_MS = 70;
/** What BullMQ is told to wait for when there is nothing to be taken any more. */
const NEVER = { member: '', score: Number.POSITIVE_INFINITY };

/** When a worker takes jobs, and how many at once. */
export interface PollSpacing {
  /** Lets the worker hold so many jobs at once, from its next look on. */
  setConcurrency(jobs: number): void;
  /** Resolves when the worker may look again: what was done is told to the queue with that look, all at once. */
  pauseEnded(): Promise<void>;
}

/**
 * Spaces a worker's looks into its queue.
 *
 * By itself BullMQ waits for each job anew, looks for others beside it, and once more when it has finished one. Where a job
 * arrives each few milliseconds and is stored with those beside it, nearly all of these looks find nothing, and each is
 * work for the store. So a queue that was found empty is left alone for a moment, by those who have finished a job too.
 * A queue that is not empty is not kept waiting, and neither is a job that comes alone.
 */
export function createPollSpacing(worker: WorkerConnection['worker']): PollSpacing {
  const { backend } = worker;
  const waitForJob = backend.waitForJob.bind(backend);
  let allowed = worker.concurrency;
  let pausing: Promise<void> | undefined;
  let polledAt = Number.NEGATIVE_INFINITY;

  const pause = async (ms: number) => {
    worker.concurrency = 1; // who has finished a job looks for another one only while no more are held
    pausing = sleep(ms);
    await pausing;
    pausing = undefined;
    worker.concurrency = allowed;
  };

  // BullMQ calls this once it has found the queue empty, and looks into it again when it resolves.
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
