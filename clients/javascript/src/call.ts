import type { Query } from './path.ts';
import type { RetryPolicy } from './retry.ts';
import type { Owner } from './tokens.ts';

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
  /** Retry policy; defaults to that of the client. */
  retry?: RetryPolicy;
}
