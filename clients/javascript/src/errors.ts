/** Kind of failure: derived from the status, or the reason for a missing response. */
export type ErrorKind =
  | 'malformed'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'timed-out'
  | 'conflict'
  | 'gone'
  | 'precondition-failed'
  | 'too-large'
  | 'unsupported-media-type'
  | 'invalid'
  | 'rate-limited'
  | 'headers-too-large'
  | 'internal'
  | 'not-implemented'
  | 'unavailable'
  | 'no-reply'
  | 'unreadable'
  | 'provider-failed'
  | 'user-changed'
  | 'insecure-url'
  | 'invalid-argument';

/** One validation error: of a value in the body (`pointer`), or of a query parameter or header (`parameter`). */
export interface FieldError {
  /** JSON pointer into the body. */
  pointer?: string;
  /** Name of the query parameter or header. */
  parameter?: string;
  code: string;
  detail: string;
}

/** Details of a failure. */
export interface Failure {
  /** HTTP status; 0 without a response. */
  status?: number;
  /** Problem code of Parley, such as `validation-failed`, or null. */
  code?: string | null;
  title?: string | null;
  detail?: string | null;
  requestId?: string | null;
  errors?: FieldError[];
  retryable?: boolean;
  /** `Retry-After` in milliseconds, or null. */
  retryAfterMs?: number | null;
  /** Underlying error, such as the provider's. */
  cause?: unknown;
}

/** The error type of this library. Any other exception is a bug. */
export class ParleyError extends Error {
  readonly kind: ErrorKind;
  readonly status: number;
  readonly code: string | null;
  readonly title: string | null;
  readonly detail: string | null;
  readonly requestId: string | null;
  readonly errors: FieldError[];
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | null;

  constructor(kind: ErrorKind, message: string, failure: Failure = {}) {
    super(message);
    this.name = 'ParleyError';
    this.kind = kind;
    this.status = failure.status ?? 0;
    this.code = failure.code ?? null;
    this.title = failure.title ?? null;
    this.detail = failure.detail ?? null;
    this.requestId = failure.requestId ?? null;
    this.errors = failure.errors ?? [];
    this.retryable = failure.retryable ?? false;
    this.retryAfterMs = failure.retryAfterMs ?? null;
    if (failure.cause !== undefined) this.cause = failure.cause; // older browsers ignore `cause` in the constructor
  }
}

const KINDS: Record<number, ErrorKind> = {
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not-found',
  405: 'method-not-allowed',
  406: 'not-acceptable',
  408: 'timed-out',
  409: 'conflict',
  410: 'gone',
  412: 'precondition-failed',
  413: 'too-large',
  415: 'unsupported-media-type',
  422: 'invalid',
  425: 'unavailable',
  429: 'rate-limited',
  431: 'headers-too-large',
  500: 'internal',
  501: 'not-implemented',
};

function kindOf(status: number): ErrorKind {
  if (status < 400) return 'unreadable';
  return KINDS[status] ?? (status < 500 ? 'malformed' : 'unavailable');
}

/** Parses `Retry-After` (seconds or a date, RFC 9110) to milliseconds; null if absent or invalid. */
function readRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = /^[A-Za-z]/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** Members of a problem document (RFC 9457); empty if the text is not a JSON object. */
function readDocument(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as never) : {};
  } catch {
    return {}; // a proxy's error page or a truncated response: only the status is used
  }
}

const asText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Converts an error response to an error. */
export function errorFrom(status: number, headers: Headers, text: string, now: number): ParleyError {
  const kind = kindOf(status);
  const known = kind === 'unreadable' ? {} : readDocument(text);
  const code = asText(known.code);
  const detail = asText(known.detail);
  const title = asText(known.title);
  return new ParleyError(kind, detail ?? title ?? `The server responded with status ${status}.`, {
    status,
    code,
    title,
    detail,
    requestId: asText(known.request_id) ?? headers.get('X-Request-Id'),
    errors: Array.isArray(known.errors) ? known.errors : [],
    retryable: status === 408 || status === 425 || status === 429 || status >= 500 || code === 'idempotency-key-in-use',
    retryAfterMs: readRetryAfter(headers.get('Retry-After'), now),
  });
}

export const userChanged = (): ParleyError =>
  new ParleyError('user-changed', 'The user changed while the call was in progress.');
