import type { Log } from './log.ts';
import { withTimeout } from './timeouts.ts';

/** Time limit from SIGTERM to exit, and the default of each step. */
export const STOP_DEADLINE_MS = 18_000;

/** A shutdown step, limited to `limitMs`. */
export interface StopStep {
  name: string;
  limitMs?: number;
  run(): Promise<unknown>;
}

/**
 * Runs the steps in order. Returns whether all of them succeeded.
 *
 * A step that fails or hangs (BullMQ's `close` never returns while Redis is unreachable) is logged and skipped, so that
 * a process always exits within its deadline.
 */
export async function stopInOrder(steps: StopStep[], log: Log): Promise<boolean> {
  const deadline = Date.now() + STOP_DEADLINE_MS;
  let clean = true;
  for (const { name, limitMs, run } of steps) {
    const left = Math.max(100, Math.min(limitMs ?? STOP_DEADLINE_MS, deadline - Date.now()));
    try {
      await withTimeout(run(), left, name);
    } catch (error) {
      clean = false;
      log.error({ err: error, step: name }, 'component did not stop cleanly');
    }
  }
  return clean;
}
