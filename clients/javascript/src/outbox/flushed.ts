import type { ParleyError } from '../errors.ts';

/** Outcome of a flush: all sent, the rest is retried automatically, or retrying does not help. */
export interface Flushed {
  outcome: 'done' | 'later' | 'stopped';
  /** The error that stopped the flush. */
  error?: ParleyError;
}
