import { ParleyError } from './errors.ts';
import type { Wire } from './wire.ts';

/** How often and how long after each other something is tried again. */
export interface RetryPolicy {
  /** How many times at most after the first; null: without an end. */
  retries: number | null;
  baseMs: number;
  capMs: number;
  /** The longest `Retry-After` that is waited for. */
  longestRetryAfterMs: number;
}

/** A call that somebody waits for: four attempts within seconds. */
export const REQUEST_POLICY: RetryPolicy = { retries: 3, baseMs: 500, capMs: 8000, longestRetryAfterMs: 30_000 };

/** What lies on disk: as long as it takes, at most five minutes apart. */
export const OUTBOX_POLICY: RetryPolicy = {
  retries: null,
  baseMs: 1000,
  capMs: 300_000,
  longestRetryAfterMs: 3_600_000,
};

/** The milliseconds before a retry (the first is 1), with full jitter; null: it is given up. */
export function delayBefore(
  policy: RetryPolicy,
  retry: number,
  random: number,
  retryAfterMs: number | null,
): number | null {
  const { retries, baseMs, capMs, longestRetryAfterMs } = policy;
  if (retries !== null && retry > retries) return null;
  if (retryAfterMs === null) return Math.floor(random * Math.min(capMs, baseMs * 2 ** (retry - 1)));
  if (retries !== null && retryAfterMs > longestRetryAfterMs) return null;
  return Math.min(retryAfterMs, longestRetryAfterMs) + Math.floor(random * baseMs);
}

/** Tries until it succeeds, fails for good, or the policy gives up; `attempt` learns how many came before it. */
export async function persist<T>(wire: Wire, policy: RetryPolicy, attempt: (before: number) => Promise<T>): Promise<T> {
  for (let before = 0; ; before++) {
    try {
      return await attempt(before);
    } catch (error) {
      if (!(error instanceof ParleyError) || !error.retryable) throw error;
      const delay = delayBefore(policy, before + 1, wire.random(), error.retryAfterMs);
      if (delay === null) throw error;
      await wire.sleep(delay);
    }
  }
}
