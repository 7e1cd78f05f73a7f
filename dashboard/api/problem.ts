/** One fault among several: where (a JSON pointer into the body, or a parameter), and in words. */
export interface ProblemError {
  pointer: string;
  code: string;
  detail: string;
}

/** A reply that is not what was asked for: the problem document (RFC 9457) as an error. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly requestId: string | undefined;
  readonly errors: ProblemError[];
  /** After how many seconds it is worth asking again. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, document: Record<string, unknown>, retryAfter?: string | null) {
    super(typeof document.detail === 'string' ? document.detail : '');
    this.name = 'ApiProblem';
    this.status = status;
    this.code = typeof document.code === 'string' ? document.code : '';
    this.title = typeof document.title === 'string' ? document.title : '';
    this.requestId = typeof document.request_id === 'string' ? document.request_id : undefined;
    this.errors = Array.isArray(document.errors) ? document.errors : [];
    this.retryAfterSeconds = retryAfter ? Number(retryAfter) || undefined : undefined;
  }
}

/** Status 0 stands for no reply at all. */
export const noReply = (cause: unknown): ApiProblem =>
  Object.assign(new ApiProblem(0, { code: 'no-reply' }), { cause });
