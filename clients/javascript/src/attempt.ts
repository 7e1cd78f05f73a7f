import type { ParleyError } from './errors.ts';

/** One attempt of a call, for logs and metrics. It contains neither credentials nor users' data. */
export interface Attempt {
  /** The operation's name in the API documentation; undefined for a request of your own. */
  operation: string | undefined;
  method: string;
  /** Counted from 1. */
  number: number;
  /** HTTP status; 0 without a response. */
  status: number;
  durationMs: number;
  requestId: string | null;
  error: ParleyError | undefined;
  /** Delay before the next attempt; null after the last one. */
  retryInMs: number | null;
}
