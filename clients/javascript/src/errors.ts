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
  | 'storage-failed'
  | 'aborted'
  | 'insecure-url'
  | 'invalid-webhook'
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

const NO_DETAILS: Failure = {
  status: 0,
  code: null,
  title: null,
  detail: null,
  requestId: null,
  errors: [],
  retryable: false,
  retryAfterMs: null,
};

/** The error type of this library. Any other exception is a bug. */
export class ParleyError extends Error implements Required<Failure> {
  declare readonly status: number;
  declare readonly code: string | null;
  declare readonly title: string | null;
  declare readonly detail: string | null;
  declare readonly requestId: string | null;
  declare readonly errors: FieldError[];
  /** Whether the same request may succeed later. */
  declare readonly retryable: boolean;
  declare readonly retryAfterMs: number | null;
  declare readonly cause: unknown;
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, message: string, failure: Failure = {}) {
    super(message);
    this.name = 'ParleyError';
    this.kind = kind;
    Object.assign(this, NO_DETAILS, failure);
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

const kindOf = (status: number): ErrorKind => KINDS[status] ?? (status < 500 ? 'malformed' : 'unavailable');

/** Limit of a parsed `Retry-After`: any number of digits is a number of milliseconds. */
const LONGEST_RETRY_AFTER_MS = 1e12;

/** Parses `Retry-After` (seconds or a date, RFC 9110) to milliseconds; null if absent or invalid. */
function readRetryAfter(value: string, now: number): number | null {
  const at = /^[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1000 : Math.max(0, at - now);
  return Number.isNaN(waitMs) ? null : Math.min(waitMs, LONGEST_RETRY_AFTER_MS);
}

/** Members of a problem document (RFC 9457); none if the text is not a JSON object. */
function readDocument(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {}; // a proxy's error page or a truncated response: only the status is used
  }
}

const asText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** A sentence with the invalid fields, the code and the request id. */
function messageOf(summary: string, code: string | null, requestId: string | null, errors: FieldError[]): string {
  const fields = errors.slice(0, 5).map(({ pointer, parameter, detail }) => `${pointer ?? parameter}: ${detail}`);
  const marks = [code, requestId && `request ${requestId}`].filter(Boolean).join(', ');
  return [summary, ...fields, marks && `(${marks})`].filter(Boolean).join(' ');
}

/** A response that is not from Parley, such as that of a proxy. */
export const unreadable = (status: number, headers: Headers, cause?: unknown): ParleyError => {
  const requestId = headers.get('X-Request-Id');
  return new ParleyError('unreadable', 'The response is a redirect or not of Parley. Check the URL.', {
    status,
    requestId,
    cause,
  });
};

/** Converts an error response to an error. */
export function errorFrom(status: number, headers: Headers, text: string, now: number): ParleyError {
  if (status < 400) return unreadable(status, headers); // a redirect; browsers hide its status, which is then 0
  const known = readDocument(text);
  const code = asText(known.code);
  const detail = asText(known.detail);
  const title = asText(known.title);
  const requestId = asText(known.request_id) ?? headers.get('X-Request-Id');
  const given = [known.errors].flat() as (FieldError | null)[]; // or those of a proxy
  const errors = given.filter(each => asText(each?.code) && asText(each?.detail)) as FieldError[];
  const summary = detail ?? title ?? `The server responded with status ${status}.`;
  return new ParleyError(kindOf(status), messageOf(summary, code, requestId, errors), {
    status,
    code,
    title,
    detail,
    requestId,
    errors,
    retryable: [408, 425, 429].includes(status) || status >= 500 || code === 'idempotency-key-in-use',
    retryAfterMs: readRetryAfter(headers.get('Retry-After') ?? '', now),
  });
}

export const aborted = ({ reason }: AbortSignal): ParleyError =>
  new ParleyError('aborted', 'The app cancelled the call.', { cause: reason });

export const userChanged = (): ParleyError => new ParleyError('user-changed', 'The user changed during the call.');

/** The message of anything that was thrown. */
export const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : `${cause}`);

/** Messages of a failed `fetch` in Chromium, Firefox, Safari, Node, Bun and Deno; they are plain `TypeError`s. */
const NETWORK_MESSAGES = /^failed to fetch|load failed|fetch failed|network|unable to connect|error sending/i;

/** Whether an error is a `fetch` without a response. */
export const isNetworkFailure = (error: unknown): boolean =>
  error instanceof Error && error.name === 'TypeError' && NETWORK_MESSAGES.test(error.message);
