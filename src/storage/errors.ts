import { Problem } from '../domain/problem.ts';

/** Returns the SQLSTATE of a failed statement, also from wrapped errors. */
export function sqlState(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code;
  }
  return undefined;
}

/** Whether the SQLSTATE class blames the data: the same statement will never succeed. */
export const isDataFault = (error: unknown): boolean => ['22', '23'].includes(sqlState(error)?.slice(0, 2) ?? '');

/** SQLSTATE classes of temporary failures: connection, resources, locks, cancellation, shutdown, read-only. */
const PASSING_CLASSES = new Set(['08', '25', '40', '53', '55', '57', '58', 'XX']);

const isConnectionFailure = (error: unknown): boolean =>
  error instanceof Error &&
  /ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|Connection terminated|timeout|not queryable|pool after calling end/i.test(
    `${(error as NodeJS.ErrnoException).code} ${error.message} ${error.cause instanceof Error ? error.cause.message : ''}`,
  );

/** Converts an infrastructure failure into a `Problem`; returns other errors unchanged. */
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

/** Whether PostgreSQL stopped a statement by its time-out (or a cancellation, which has the same code). */
export const isStatementTimeout = (error: unknown): boolean => sqlState(error) === '57014';

/** Whether a statement violated a unique key. */
export const isUniqueViolation = (error: unknown): boolean => sqlState(error) === '23505';
