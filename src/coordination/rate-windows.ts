/** A limit on units (requests, or items of a batch) in windows that start at whole multiples of their length. */
export interface RateLimit {
  /** Name for headers and metrics: `identity`, `api-key`, `ip` … */
  readonly scope: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** The decision on one request: whether it is allowed, how many units are left in the window, and when it ends. */
export interface RateVerdict<Limit extends RateLimit = RateLimit> {
  limit: Limit;
  allowed: boolean;
  remaining: number;
  resetSeconds: number;
}

/** The end of the window that contains a time, in milliseconds. */
export const windowEnd = ({ windowSeconds }: RateLimit, at: number): number =>
  (Math.floor(at / (windowSeconds * 1000)) + 1) * windowSeconds * 1000;

/**
 * The verdict on a request that brings its counter to `total`. An overdrawn limit resets only after further windows.
 */
export function verdictOf<Limit extends RateLimit>(
  limit: Limit,
  total: number,
  allowed: boolean,
  leftMs: number,
): RateVerdict<Limit> {
  const overdrawnWindows = Math.max(0, Math.floor(total / limit.limit) - 1);
  return {
    limit,
    allowed,
    remaining: Math.max(0, limit.limit - total),
    resetSeconds: Math.max(1, Math.ceil(leftMs / 1000)) + overdrawnWindows * limit.windowSeconds,
  };
}
