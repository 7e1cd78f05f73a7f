import type { Context, Middleware } from 'koa';
import { Problem } from '../../domain/problem.ts';
import type { ProblemKind } from '../../domain/problem-kinds.ts';
import type { Config } from '../../platform/config.ts';
import type { Log } from '../../platform/log.ts';
import { replyToUnread } from './body.ts';
import { isOidcPath, loginPage } from './browser-addresses.ts';

/** The HTTP status of each kind of problem. A kind without a status does not compile. */
export const STATUS_OF: Record<ProblemKind, number> = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'not-acceptable': 406,
  conflict: 409,
  gone: 410,
  'precondition-failed': 412,
  'timed-out': 408,
  'too-large': 413,
  'headers-too-large': 431,
  'unsupported-media-type': 415,
  invalid: 422,
  'rate-limited': 429,
  internal: 500,
  'not-implemented': 501,
  unavailable: 503,
};

/** Returns the explanation of a problem. That of an invalid request ends with its first field, which is all that some clients show. */
function detailOf({ code, message, options: { errors = [] } }: Problem): string {
  const [first, ...others] = errors;
  const field = first && ('pointer' in first ? first.pointer : first.parameter);
  if (code !== 'validation-failed' || !field) return message;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  return `${message.replace(/\.$/, '')}: ${field}${more}.`;
}

/** The problem document of RFC 9457, extended by the code, the request's id, and each fault with its pointer. */
export const problemDocument = (problem: Problem, baseUrl: string, instance: string, requestId: string) => ({
  type: `${baseUrl}/problems/${problem.code}`,
  title: problem.title,
  status: STATUS_OF[problem.kind],
  detail: detailOf(problem),
  instance,
  code: problem.code,
  request_id: requestId,
  ...(problem.options.errors ? { errors: problem.options.errors } : {}),
  ...problem.options.extra,
});

/**
 * The fields that identify a request in log lines. Contains the route instead of the path, which may hold the token of
 * a password reset or an invitation.
 */
export const describeRequest = ({ state, method }: Context) => ({
  request_id: state.requestId,
  method,
  route: state.route ?? 'unmatched',
});

/** Errors other than `Problem` are bugs: logged in full, without details in the reply. */
function asProblem(error: unknown, ctx: Context, deps: { log: Log }): Problem {
  if (error instanceof Problem) return error;
  deps.log.error({ err: error, ...describeRequest(ctx) }, 'unhandled error');
  return new Problem('internal-error', 'Unexpected server error. Report the `request_id`.', { cause: error });
}

function challenge(ctx: Context, problem: Problem): void {
  if (problem.kind !== 'unauthenticated') return;
  const value = ctx.state.basicAuth
    ? 'Basic realm="parley"'
    : problem.code === 'credentials-missing'
      ? 'Bearer'
      : `Bearer error="invalid_token", error_description="${problem.title}"`;
  ctx.set('WWW-Authenticate', value);
}

/** Replies with a problem document to requests that fail. While the process stops, the connection closes after the reply. */
export const replyWithProblems =
  (deps: { config: Config; log: Log; isStopping(): boolean }): Middleware =>
  async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      replyWithProblem(ctx, error, deps);
    } finally {
      if (deps.isStopping()) ctx.set('Connection', 'close'); // checked last: stopping may have begun during the request
    }
  };

/** The methods by which a browser opens a page; POST is `response_mode=form_post` of an identity provider. */
const NAVIGATIONS = new Set(['GET', 'HEAD', 'POST']);

/** Keeps the headers set so far, which Koa's own error handling would drop. */
function replyWithProblem(ctx: Context, error: unknown, deps: { config: Config; log: Log }): void {
  const found = asProblem(error, ctx, deps);
  if (isOidcPath(ctx.path) && NAVIGATIONS.has(ctx.method)) {
    leadToLoginPage(ctx, found);
    return;
  }
  ctx.status = STATUS_OF[found.kind];
  challenge(ctx, found);
  if (found.options.retryAfterSeconds) ctx.set('Retry-After', String(found.options.retryAfterSeconds));
  ctx.set('Cache-Control', 'no-store');
  ctx.remove('ETag');
  ctx.type = 'application/problem+json';
  const document = problemDocument(found, deps.config.BASE_URL, ctx.path, ctx.state.requestId);
  replyToUnread(ctx, JSON.stringify(document));
}

/** Redirects the browser of a person to the login page, which shows the problem. */
function leadToLoginPage(ctx: Context, { code }: Problem): void {
  ctx.status = 302;
  ctx.set({ Location: loginPage(code), 'Cache-Control': 'no-store' });
  replyToUnread(ctx, '');
}
