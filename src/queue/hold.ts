import { Problem } from '../domain/problem.ts';

/** The pause after the first failure of an outage; it doubles to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1000;
/** What fails on, although outages ended so often in between, is no victim of one: it is handed back. */
const MAX_FALSE_ENDS = 5;

/** Whether a part of the infrastructure is at fault, and not what was to be done. */
export const isOutage = (error: unknown): error is Problem => error instanceof Problem && error.kind === 'unavailable';

/** Keeps work in hand while a part of the infrastructure is down. */
export interface Hold {
  /**
   * Does the work, again and again while an outage makes it fail; resolves when it is done.
   *
   * Rejects with any other failure at once; with the outage when the hold is released, or when other work has succeeded
   * five times in between; and when it is somebody else's by now, as `isForfeit` tells.
   */
  run<T>(work: () => Promise<T>, isForfeit?: () => boolean): Promise<T>;
  /** Lets go of everything that waits, and holds nothing any more. */
  release(): void;
}

/**
 * During an outage one piece of work tries its luck, in turn, after pauses of 0.1 s to 1 s; the others wait for it. With
 * the first success all go on.
 *
 * Put back instead, the jobs of a whole backlog would be taken, failed and delayed by up to a minute each, and most of
 * them would sleep on when the database is back.
 */
export function createHold(): Hold {
  const waiting: (() => void)[] = [];
  let outage: { error: unknown } | undefined;
  let ends = 0;
  let released = false;
  let pauseMs = FIRST_PAUSE_MS;
  let timer: NodeJS.Timeout | undefined;

  const letAllGo = () => {
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

  /** Resolves when it is this one's turn to try, or when all may go on. */
  const turn = () =>
    new Promise<void>(resolve => {
      waiting.push(resolve);
      scheduleTry();
    });

  const end = () => {
    if (!outage) return;
    outage = undefined;
    ends++;
    pauseMs = FIRST_PAUSE_MS;
    letAllGo();
  };

  return {
    async run(work, isForfeit = () => false) {
      for (const endsBefore = ends; ; ) {
        if (outage && !released) await turn();
        if (outage && released) throw outage.error;
        if (isForfeit()) {
          scheduleTry();
          throw new Problem('queue-unavailable', 'Another worker has taken over the job.');
        }
        try {
          const result = await work();
          end();
          return result;
        } catch (error) {
          scheduleTry(); // whatever becomes of this one, the next gets its turn
          if (!isOutage(error) || released || ends - endsBefore >= MAX_FALSE_ENDS) throw error;
          outage = { error };
        }
      }
    },
    release() {
      released = true;
      letAllGo();
    },
  };
}
