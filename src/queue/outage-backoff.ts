import { Problem } from '../domain/problem.ts';

/** The pause after the first failure of an outage. It doubles up to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1000;
/** Work that still fails after this many outages have ended is not a victim of an outage. It rejects. */
const MAX_FALSE_ENDS = 5;

/** Whether the error is an outage of the infrastructure rather than a fault of the work. */
export const isOutage = (error: unknown): error is Problem => error instanceof Problem && error.kind === 'unavailable';

/** Retries work while a part of the infrastructure is down. */
export interface OutageBackoff {
  /**
   * Runs the work, and retries it as long as it fails with an outage. Resolves when it succeeds.
   *
   * Rejects with any other error at once. Rejects with the outage after `release`, or when other work has succeeded
   * five times in between. Rejects with `queue-unavailable` when `isLeaseLost` returns true.
   */
  run<T>(work: () => Promise<T>, isLeaseLost?: () => boolean): Promise<T>;
  /** Releases all waiting work. From then on outages reject at once. */
  release(): void;
}

/**
 * During an outage, one piece of work at a time is retried, after pauses of 0.1 s to 1 s; the others wait. After the
 * first success all continue.
 *
 * If jobs were returned to the queue instead, a whole backlog would be fetched, failed and delayed by up to a minute
 * each. Most of it would still be delayed when the database is back.
 */
export function createOutageBackoff(): OutageBackoff {
  const waiting: (() => void)[] = [];
  let outage: { error: unknown } | undefined;
  let ends = 0;
  let released = false;
  let pauseMs = FIRST_PAUSE_MS;
  let timer: NodeJS.Timeout | undefined;

  const resumeAll = () => {
    clearTimeout(timer);
    timer = undefined;
    for (const go of waiting.splice(0)) go();
  };

  const scheduleTry = () => {
    if (timer || waiting.length === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      waiting.shift()?.();
    }, pauseMs);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  };

  /** Resolves when it is this caller's turn to try, or when all may continue. */
  const waitForTurn = () =>
    new Promise<void>(resolve => {
      waiting.push(resolve);
      scheduleTry();
    });

  const end = () => {
    if (!outage) return;
    outage = undefined;
    ends++;
    pauseMs = FIRST_PAUSE_MS;
    resumeAll();
  };

  return {
    async run(work, isLeaseLost = () => false) {
      for (const endsBefore = ends; ; ) {
        if (outage && !released) await waitForTurn();
        if (outage && released) throw outage.error;
        if (isLeaseLost()) {
          scheduleTry();
          throw new Problem('queue-unavailable', 'Another worker has taken over the job.');
        }
        try {
          const result = await work();
          end();
          return result;
        } catch (error) {
          scheduleTry(); // whatever the outcome, the next one gets its turn
          if (!isOutage(error) || released || ends - endsBefore >= MAX_FALSE_ENDS) throw error;
          outage = { error };
        }
      }
    },
    release() {
      released = true;
      resumeAll();
    },
  };
}
