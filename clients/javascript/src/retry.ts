import { ParleyError } from './errors.ts';
import type { Wire } from './wire.ts';

/** Retry policy with exponential backoff. */
export interface RetryPolicy {
  /** Maximum number of retries; null for no limit. */
  retries: number | null;
  baseMs: number;
  capMs: number;
  /** Maximum honored `Retry-After`. */
  longestRetryAfterMs: number;
}

/** Policy of interactive calls: four attempts within seconds. */
export const REQUEST_POLICY: RetryPolicy = { retries: 3, baseMs: 500, capMs: 8000, longestRetryAfterMs: 30_000 };

/** Policy of the outbox: no limit, at most five minutes apart. */
export const OUTBOX_POLICY: RetryPolicy = {
  retries: null,
  baseMs: 1000,
  capMs: 300_000,
  longestRetryAfterMs: 3_600_000,
};

/** Delay in milliseconds before a retry (counted from 1), with full jitter; null to give up. */
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

/** Retries until success, a permanent failure or the policy's limit; `attempt` receives the number of previous attempts. */
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
