import type { Query } from './path.ts';
import type { RetryPolicy } from './policy.ts';
import type { Owner } from './tokens.ts';

/** Options of one call, as its last argument. */
export interface CallOptions {
  /** Cancels the call: it rejects with `aborted`. A request under way may still have an effect. */
  signal?: AbortSignal;
  /** Timeout of each attempt; defaults to that of the client. */
  timeoutMs?: number;
  /** Changes of the client's retry policy, such as `{ retries: 0 }`. */
  retry?: Partial<RetryPolicy>;
}

/** A request as the current user. */
export interface Call {
  method: string;
  path: string;
  query?: Query;
  body?: unknown;
  /** Headers that depend on the token's owner. */
  headers?: (owner: Owner) => Record<string, string>;
  /** The only user the request may be sent as; defaults to the current one. */
  owner?: Owner;
  /** The operation's name in the API documentation, for `onAttempt`. */
  operation?: string;
  options?: CallOptions | undefined;
}
