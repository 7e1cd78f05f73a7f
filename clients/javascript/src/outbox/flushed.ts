import type { ParleyError } from '../errors.ts';

/** What a flush came to: all sent; some is tried later by itself; or waiting makes nothing better. */
export interface Flushed {
  outcome: 'done' | 'later' | 'stopped';
  /** What stood in the way. */
  error?: ParleyError;
}
