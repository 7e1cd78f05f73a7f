import { setImmediate as nextTurn } from 'node:timers/promises';

/** Time after which long work lets other requests run. */
const TURN_MS = 5;

/**
 * Returns a function for the steps of long work: it waits for other requests once 5 ms have passed since they had their turn.
 * One step should take less than that.
 */
export function createTurns(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < TURN_MS) return undefined;
    return nextTurn().then(() => {
      since = performance.now();
    });
  };
}
