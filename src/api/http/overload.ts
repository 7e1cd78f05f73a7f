import { Problem } from '../../domain/problem.ts';
import { retrySoon } from '../../domain/retries.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { createRequestBatches } from './request-batches.ts';

/** Admits requests in batches, and refuses those that would wait too long. */
export interface Overload {
  /** Resolves when the request may run. Rejects with `service-overloaded`. */
  admit(hasBody: boolean): Promise<void>;
}

interface WaitingRequest {
  start(): void;
  refuse(problem: Problem): void;
}

/**
 * Admits requests in batches, one per iteration of the event loop (`request-batches.ts` states the limits).
 *
 * Batches improve cache locality: a step finds its code in the processor cache because the previous request has just
 * run it, and replies leave together (docs/performance.md: a sync costs two thirds, a card fetch half). While fewer
 * than 32 requests wait and each iteration of the event loop brings another, the batch waits one more iteration. A lone
 * request waits for one.
 *
 * Requests that wait for a store do not lengthen a batch, and slow reads therefore cause no refusals.
 */
export function createOverload({ requestsShed }: Pick<Metrics, 'requestsShed'>): Overload {
  const batches = createRequestBatches<WaitingRequest>();
  let isScheduled = false;

  const runBatch = () => {
    const { start, refuse, goesOn } = batches.next(performance.now());
    isScheduled = goesOn;
    if (goesOn) setImmediate(runBatch); // first, so that it measures this batch and all that it schedules
    for (const request of refuse) {
      requestsShed.inc();
      const options = { retryAfterSeconds: retrySoon() };
      request.refuse(new Problem('service-overloaded', 'The server is overloaded.', options));
    }
    for (const admission of start) admission.start();
  };

  return {
    admit: hasBody =>
      new Promise((start, refuse) => {
        batches.add({ start, refuse }, hasBody, performance.now());
        if (isScheduled) return;
        isScheduled = true;
        setImmediate(runBatch);
      }),
  };
}
