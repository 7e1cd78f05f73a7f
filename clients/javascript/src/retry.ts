import type { CallOptions } from './call.ts';
import { notify } from './callbacks.ts';
import { withDefaults } from './defaults.ts';
import { aborted, ParleyError } from './errors.ts';
import { listen } from './listen.ts';
import type { RetryPolicy } from './policy.ts';
import type { Reply, Wire } from './wire.ts';

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
  if (retries !== null && (retry > retries || (retryAfterMs ?? 0) > longestRetryAfterMs)) return null;
  if (retryAfterMs === null) return Math.floor(random * Math.min(capMs, baseMs * 2 ** (retry - 1)));
  return Math.min(retryAfterMs, longestRetryAfterMs) + Math.floor(random * baseMs);
}

/** Surroundings of a call that is retried. */
export interface Persistence {
  wire: Wire;
  policy: RetryPolicy;
  /** What `onAttempt` reports; absent if the attempts are not reported. */
  about?: { method: string; operation: string | undefined };
  options?: CallOptions | undefined;
}

/** Rejects with `aborted` as soon as the signal does. */
export function unlessAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work;
  let stop: (() => void) | undefined;
  const ended = new Promise<never>((_, reject) => {
    const end = () => reject(aborted(signal));
    if (signal.aborted) end();
    stop = listen(signal, 'abort', end);
  });
  return Promise.race([work, ended]).finally(stop);
}

/** Retries until success, a permanent failure or the policy's limit. */
export async function persist<T>(
  { wire, policy, about, options = {} }: Persistence,
  attempt: () => Promise<T>,
): Promise<T> {
  const { signal, retry } = options;
  for (let number = 1; ; number++) {
    if (signal?.aborted) throw aborted(signal);
    const start = wire.now();
    const report = (
      { status = 0, requestId = null }: { status?: number; requestId?: string | null | undefined },
      error?: ParleyError,
      retryInMs: number | null = null,
    ) => {
      const durationMs = wire.now() - start;
      if (about) notify(wire.onAttempt, { ...about, number, status, durationMs, requestId, error, retryInMs });
    };
    try {
      const value = await unlessAborted(signal, attempt());
      const { status, headers } = Object(value) as Partial<Reply>;
      report({ status, requestId: headers?.get('X-Request-Id') });
      return value;
    } catch (error) {
      const failure = error instanceof ParleyError ? error : undefined;
      const delay = failure?.retryable
        ? delayBefore(withDefaults(policy, retry), number, wire.random(), failure.retryAfterMs)
        : null;
      report(failure ?? {}, failure, delay);
      if (delay === null) throw error;
      await unlessAborted(signal, wire.sleep(delay));
    }
  }
}
