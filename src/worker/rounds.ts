import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../platform/log.ts';
import { describeFailure } from '../storage/database/errors.ts';

interface RoundOptions {
  log: Log;
  signal: AbortSignal;
  /** The log message of a failed round. */
  failure: string;
  /** Pause after a failure. Each failure is logged, so it also bounds the log. */
  retryMs: number;
}

/**
 * Runs rounds of background work until the signal is aborted. A round returns the pause before the next one in
 * milliseconds. A failed round is logged, and the next one tries again.
 */
export async function runRounds(
  { log, signal, failure, retryMs }: RoundOptions,
  round: () => Promise<number>,
): Promise<void> {
  while (!signal.aborted) {
    let pauseMs = retryMs;
    try {
      pauseMs = await round();
    } catch (error) {
      log.warn(describeFailure(error), failure);
    }
    await pause(pauseMs, signal);
  }
}

/** Resolves after a pause, or when the signal is aborted. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined); // rejects only at the signal
