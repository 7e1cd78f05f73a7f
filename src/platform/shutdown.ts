import type { Log } from './log.ts';

/** Time limit from SIGTERM to exit, and the default of each step. */
export const STOP_DEADLINE_MS = 18_000;

/** A shutdown step, limited to `limitMs`. */
export interface StopStep {
  name: string;
  limitMs?: number;
  run(): Promise<unknown>;
}

/** Resolves like `promise`, or rejects with an error that names `what` after `limitMs`. */
export async function withTimeout<T>(promise: Promise<T>, limitMs: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
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
