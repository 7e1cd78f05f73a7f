import { Problem } from '../../domain/problem.ts';

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

/**
 * Whether a connection was refused before it was ready: by a server that stops or starts, or because no server has the
 * address. A time-out is different: its caller has waited already.
 */
export const isRefusedConnection = (error: unknown): boolean =>
  sqlState(error)?.startsWith('57P') ??
  /ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|Connection terminated unexpectedly/.test(
    `${(error as NodeJS.ErrnoException).code} ${(error as Error).message}`,
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

/** SQLSTATEs whose cause is not the database as a whole, although a request is answered as if it were. */
const CAUSES: Record<string, string> = {
  '57014': 'statement timeout',
  '55P03': 'lock timeout',
  '40P01': 'deadlock',
  '40001': 'concurrent changes',
};

/** A failure, for a log line. */
export interface Failure {
  reason: string;
  sqlstate?: string;
  cause?: string;
}

/** Returns the message of the first error that led to a failure, with the SQLSTATE and its name. */
export function describeFailure(error: unknown): Failure {
  let first = error;
  while (first instanceof Error && first.cause instanceof Error) first = first.cause;
  const sqlstate = sqlState(error);
  const cause = sqlstate && CAUSES[sqlstate];
  const reason = first instanceof Error ? first.message : String(first);
  return { reason, ...(sqlstate && { sqlstate }), ...(cause && { cause }) };
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof Problem && ['database-unavailable', 'service-overloaded'].includes(error.code);

/** Whether a statement failed because the database is unreachable, is stopping or lacks resources: any other would fail too. */
export function isOutage(error: unknown): boolean {
  const state = sqlState(error);
  if (!state) return isUnavailable(error) || isConnectionFailure(error);
  return ['08', '53'].includes(state.slice(0, 2)) || state.startsWith('57P') || state === '25006';
}
