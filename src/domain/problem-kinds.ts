/** The kind of a problem. Each layer maps it: HTTP to a status, the queue to a retry or an end. */
export type ProblemKind =
  | 'malformed'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'conflict'
  | 'gone'
  | 'precondition-failed'
  | 'timed-out'
  | 'too-large'
  | 'headers-too-large'
  | 'unsupported-media-type'
  | 'invalid'
  | 'rate-limited'
  | 'not-implemented'
  | 'unavailable'
  | 'internal';

/** An entry of the problem catalog. */
export interface ProblemEntry {
  kind: ProblemKind;
  title: string;
  meaning: string;
  /** The members of an example that differ between problems. Without `instance`, the path is `/v1/questions`. */
  example: { detail: string; instance?: string; [member: string]: unknown };
}
