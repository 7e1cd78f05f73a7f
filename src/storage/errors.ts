import { Problem } from '../domain/problem.ts';

/** The SQLSTATE of a failed statement, found through whatever wrapped it. */
export function sqlState(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code;
  }
  return undefined;
}

/** SQLSTATE classes that blame the data: the same statement will never succeed. */
export const isDataFault = (error: unknown): boolean => ['22', '23'].includes(sqlState(error)?.slice(0, 2) ?? '');

/** SQLSTATE classes that blame the moment: connection, resources, locks, cancelled, shut down, read-only. */
const PASSING_CLASSES = new Set(['08', '25', '40', '53', '55', '57', '58', 'XX']);

const isConnectionFailure = (error: unknown): boolean =>
  error instanceof Error &&
  /ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|Connection terminated|timeout|not queryable|pool after calling end/i.test(
    `${(error as NodeJS.ErrnoException).code} ${error.message} ${error.cause instanceof Error ? error.cause.message : ''}`,
  );

/** A failure of the infrastructure as the problem that callers know; anything else as it is. */
export function asProblem(error: unknown): unknown {
  if (error instanceof Problem) return error;
  const state = sqlState(error);
  const passing = state ? PASSING_CLASSES.has(state.slice(0, 2)) : isConnectionFailure(error);
  if (!passing) return error;
  return new Problem('database-unavailable', 'The database cannot be reached right now.', {
    retryAfterSeconds: 2,
    cause: error,
  });
}

/** Whether PostgreSQL stopped a statement because of its time-out (or a cancellation, which has the same code). */
export const isStatementTimeout = (error: unknown): boolean => sqlState(error) === '57014';

/** Whether a statement failed on a unique key. */
export const isUniqueViolation = (error: unknown): boolean => sqlState(error) === '23505';
