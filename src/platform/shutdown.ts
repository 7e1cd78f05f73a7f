import type { Log } from './log.ts';

/** How long a role may take from SIGTERM to its end, and each step of it where nothing else is said. */
export const STOP_DEADLINE_MS = 18_000;

/** Something to do on the way out, within `limitMs`. */
export interface StopStep {
  name: string;
  limitMs?: number;
  run(): Promise<unknown>;
}

/** `promise`, or a rejection that names what took too long. */
export async function within<T>(promise: Promise<T>, limitMs: number, what: string): Promise<T> {
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
 * Runs the steps in order and tells whether all of them ended well.
 *
 * A step that fails or hangs (BullMQ's `close` never returns while Redis is away) is logged and passed over, so that
 * a process always ends within its deadline.
 */
export async function stopInOrder(steps: StopStep[], log: Log): Promise<boolean> {
  const deadline = Date.now() + STOP_DEADLINE_MS;
  let clean = true;
  for (const { name, limitMs, run } of steps) {
    const left = Math.max(100, Math.min(limitMs ?? STOP_DEADLINE_MS, deadline - Date.now()));
    try {
      await within(run(), left, name);
    } catch (error) {
      clean = false;
      log.error({ err: error, step: name }, 'component did not stop cleanly');
    }
  }
  return clean;
}
