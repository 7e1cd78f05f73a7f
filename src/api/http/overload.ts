import { Problem, retrySoon } from '../../domain/problem.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { createRequestBatches } from './request-batches.ts';

/** Admits requests in batches, and refuses those that would wait too long. */
export interface Overload {
  /** Resolves when the request may run. Rejects with `service-overloaded`. */
  admit(hasBody: boolean): Promise<void>;
}

interface Admission {
  start(): void;
  refuse(problem: Problem): void;
}

/**
 * Admits requests in batches, one per iteration of the event loop (`request-batches.ts` states the limits).
 *
 * Batches make requests cheap. One by one, each request would run the code of all steps through a processor cache that
 * holds the code of one; in a batch, a step finds its code where the previous request left it, and the replies leave
 * together (docs/performance.md: a sync costs two thirds, a card fetch half). While fewer than 32 requests wait and each
 * look at the network brings another, one more look follows; a lone request waits for one look only.
 *
 * Requests that wait for a store do not lengthen a batch, so many slow reads cause no refusals.
 */
export function createOverload({ requestsShed }: Pick<Metrics, 'requestsShed'>): Overload {
  const batches = createRequestBatches<Admission>();
  let isScheduled = false;

  const runBatch = () => {
    const { start, refuse, goesOn } = batches.next(performance.now());
    isScheduled = goesOn;
    if (goesOn) setImmediate(runBatch); // first, so that it measures this batch, whatever that schedules
    for (const admission of refuse) {
      requestsShed.inc();
      const options = { retryAfterSeconds: retrySoon() };
      admission.refuse(new Problem('service-overloaded', 'The server is overloaded.', options));
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
