/** Retry policy with exponential backoff. */
export interface RetryPolicy {
  /** Maximum number of retries; null for no limit. */
  retries: number | null;
  baseMs: number;
  capMs: number;
  /** Maximum honored `Retry-After`. */
  longestRetryAfterMs: number;
}
