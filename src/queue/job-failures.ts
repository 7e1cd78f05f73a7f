import type { ActiveJob } from './connection.ts';
import { isOutage } from './outage-backoff.ts';

/** A job of a newer version, which a worker returns to the queue for a newer worker. */
export class UnknownJob extends Error {}

/** Whether the payload or its handler may be the cause: not an outage, and not a payload for a newer worker. */
export const blamesPayload = (error: unknown): boolean => !(error instanceof UnknownJob) && !isOutage(error);

/** Counts a failure in the job's progress, which the queue stores. Returns the number of failures. */
export async function countFailure(job: Pick<ActiveJob, 'progress' | 'updateProgress'>): Promise<number> {
  const failures = ((job.progress as { failures?: number })?.failures ?? 0) + 1;
  await job.updateProgress({ failures });
  return failures;
}
