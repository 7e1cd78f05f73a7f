/** What kind of trouble it is: by the status of the reply, or why there is none. */
export type ErrorKind =
  | 'malformed'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'timed-out'
  | 'conflict'
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

/** One fault among several: where (JSON pointer or parameter name), which, and in words. */
export interface FieldError {
  pointer: string;
  code: string;
  detail: string;
}

/** What is known of a failure. */
export interface Failure {
  /** The HTTP status; 0 without a reply. */
  status?: number;
  /** Parley's own code, such as `validation-failed`; null where the reply has none. */
  code?: string | null;
  title?: string | null;
  detail?: string | null;
  requestId?: string | null;
  errors?: FieldError[];
  retryable?: boolean;
  /** After how many milliseconds the server wants to be asked again; null where it doesn't say. */
  retryAfterMs?: number | null;
  /** What lies behind it, such as the provider's own failure. */
  cause?: unknown;
}

/** Every failure of this library. Whatever else is thrown is a bug of it. */
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
    if (failure.cause !== undefined) this.cause = failure.cause; // older browsers take no cause in the constructor
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

/** `Retry-After` in milliseconds: seconds or a date (RFC 9110); null where it says neither. */
function readRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = /^[A-Za-z]/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** The members of a problem document (RFC 9457); none where the text is no JSON object. */
function readDocument(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as never) : {};
  } catch {
    return {}; // a proxy's page, or a reply that broke off: the status alone tells what it is
  }
}

const asText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** A reply that is no success, as an error. */
export function errorFrom(status: number, headers: Headers, text: string, now: number): ParleyError {
  const kind = kindOf(status);
  const known = kind === 'unreadable' ? {} : readDocument(text);
  const code = asText(known.code);
  const detail = asText(known.detail);
  const title = asText(known.title);
  return new ParleyError(kind, detail ?? title ?? `The server answered ${status}.`, {
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
  new ParleyError('user-changed', 'Another user has logged in since the call began.');
