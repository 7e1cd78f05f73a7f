import type { CallOptions } from '../call.ts';
import type { ParleyError } from '../errors.ts';

/** Options of a flush. */
export type FlushOptions = Pick<CallOptions, 'signal' | 'timeoutMs'>;

/** Outcome of a flush: all sent, the rest is retried automatically, or retrying does not help. */
export interface Flushed {
  outcome: 'done' | 'later' | 'stopped';
  /** With `later`, if only answers that were refused on the way are left: milliseconds until the next try. */
  nextTryMs?: number;
  /** The error that stopped the flush. */
  error?: ParleyError;
}
