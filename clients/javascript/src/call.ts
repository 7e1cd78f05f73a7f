import type { Query } from './path.ts';
import type { RetryPolicy } from './retry.ts';
import type { Owner } from './tokens.ts';

/** A request of the present user. */
export interface Call {
  method: string;
  path: string;
  query?: Query;
  body?: unknown;
  /** Headers that depend on whose token it is. */
  headers?: (owner: Owner) => Record<string, string>;
  /** The only user as whom it may go out; the present one where absent. */
  owner?: Owner;
  /** How it is repeated; as the client's calls are where absent. */
  retry?: RetryPolicy;
}
