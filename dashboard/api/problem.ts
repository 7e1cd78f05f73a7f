import type { Schemas } from './schema.ts';

/** One validation error: of a value in the body (JSON pointer), or of a query parameter or header (its name). */
export interface ProblemError {
  pointer?: string;
  parameter?: string;
  code: string;
  detail: string;
}

/** A color that is hard to read, in the problem `low-contrast`. */
export interface Contrast {
  field: string;
  ratio: number;
  required: number;
  /** The nearest color that passes. */
  nearest: string;
}

/** Error response with its problem document (RFC 9457). */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly requestId: string | undefined;
  readonly errors: ProblemError[];
  readonly contrasts: Contrast[];
  /** In `conversation-changed`: the present values of the fields that have changed meanwhile. */
  readonly now: Record<string, unknown>;
  /** In `conversation-moved`: the replies and notes that were written meanwhile, oldest first. */
  readonly missed: Schemas['Message'][];
  /** Number of the oldest event that is kept, in the problem of an earlier one. */
  readonly oldest: number | undefined;
  /** Value of `Retry-After` in seconds. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, document: Record<string, unknown>, retryAfter?: string | null) {
    super(typeof document.detail === 'string' ? document.detail : '');
    this.name = 'ApiProblem';
    this.status = status;
    this.code = typeof document.code === 'string' ? document.code : '';
    this.title = typeof document.title === 'string' ? document.title : '';
    this.requestId = typeof document.request_id === 'string' ? document.request_id : undefined;
    this.errors = Array.isArray(document.errors) ? document.errors : [];
    this.contrasts = Array.isArray(document.contrasts) ? document.contrasts : [];
    this.now =
      typeof document.now === 'object' && document.now !== null ? (document.now as Record<string, unknown>) : {};
    this.missed = Array.isArray(document.missed) ? document.missed : [];
    this.oldest = typeof document.oldest === 'number' ? document.oldest : undefined;
    this.retryAfterSeconds = retryAfter ? Number(retryAfter) || undefined : undefined;
  }
}

/** Creates the problem for a missing or incomplete response (status 0). */
export const noReply = (cause: unknown): ApiProblem =>
  Object.assign(new ApiProblem(0, { code: 'no-reply' }), { cause });

/** Creates the problem for a response that is not Parley's, such as the HTML page of a proxy. */
export const unreadableReply = (status: number): ApiProblem => new ApiProblem(status, { code: 'unreadable-reply' });

/** Whether something else replied instead of Parley, such as the sign-in page of a proxy in front of it. */
export const isOtherReply = (error: unknown): boolean =>
  error instanceof ApiProblem && error.code === 'unreadable-reply';

/** Whether a complete response from Parley is missing: for example, a proxy sent its own page. */
export const isConnectionLoss = (error: unknown): boolean =>
  error instanceof ApiProblem && (error.status === 0 || isOtherReply(error) || isProxyError(error));

const isProxyError = ({ status, code }: ApiProblem): boolean => code === '' && status >= 500;

/** Failures worth retrying: a lost connection, the rate limit, an unavailable store. */
export const isTransient = (error: unknown): boolean =>
  isConnectionLoss(error) || (error instanceof ApiProblem && (error.status === 429 || error.status === 503));

/** Whether Parley itself refused the session. A 401 of a proxy does not end it. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof ApiProblem && error.status === 401 && !isOtherReply(error);

/** Whether a write was refused because its `If-Match` is not the current entity tag. */
export const isOutdated = (error: unknown): boolean => error instanceof ApiProblem && error.status === 412;
