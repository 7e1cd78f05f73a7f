/** A step that took longer than its time limit. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/** Resolves like `promise`, or rejects with a `TimeoutError` that names `what` after `limitMs`. */
export async function withTimeout<T>(promise: Promise<T>, limitMs: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeoutError(`${what} took longer than ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** `errno` of a socket, and SQLSTATE of PostgreSQL's `statement_timeout`. */
const TIMEOUT_CODES: ReadonlySet<unknown> = new Set(['ETIMEDOUT', '57014']);
/** The time-outs of ioredis and node-postgres that have neither a class nor a code. */
const DRIVER_MESSAGES: ReadonlySet<string> = new Set([
  'Command timed out',
  'Query read timeout',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
]);

/** Whether an error, or its cause, is a time limit exceeded: our own, a store's, or that of a store's client. */
export function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return (
    error instanceof TimeoutError ||
    TIMEOUT_CODES.has(code) ||
    DRIVER_MESSAGES.has(error.message) ||
    isTimeout(error.cause)
  );
}
