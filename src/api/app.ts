import type { RequestListener } from 'node:http';
import Router, { type RouterMiddleware } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { Problem } from '../domain/problem.ts';
import type { ApiDeps } from './deps.ts';
import { Application } from './http/application.ts';
import { allowAnyOrigin, answerPreflight, isPreflight } from './http/cors.ts';
import { createCursors } from './http/cursors.ts';
import { sendHeadersAtOnce } from './http/header-list.ts';
import { measure } from './http/measure.ts';
import { describeRequest, replyWithProblems } from './http/problem.ts';
import { nameRequest } from './http/request-id.ts';
import { securityHeadersOf } from './http/security-headers.ts';
import { trace } from './http/trace.ts';
import { requireWellFormed } from './http/well-formed.ts';
import { runOperation } from './pipeline/run-operation.ts';
import { OPERATIONS } from './routes/index.ts';
import { addDashboard } from './site/dashboard.ts';
import { addDocuments } from './site/documents.ts';
import { addManual } from './site/manual.ts';

/**
 * Returns the application: the middleware that every request passes, in order, and the routes. All steps between
 * authentication and reply belong to one operation (`pipeline/run-operation.ts`).
 */
export function createApp(deps: ApiDeps): RequestListener {
  const app = new Application();
  app.use(sendHeadersAtOnce(app, securityHeadersOf(deps.config.BASE_URL)));
  app.use(nameRequest);
  if (deps.spans) app.use(trace(deps.spans));
  app.use(measure(deps));
  app.use(replyWithProblems(deps));
  app.use(requireWellFormed);
  app.use(createRoutes(deps));
  app.use(refuseUnknownPath);
  app.on('error', logUnsent(deps));
  return app.callback();
}

/**
 * Logs an error for which no problem document could be sent. Koa has then sent a plain 500, unless the headers had been
 * sent or the client had disconnected.
 */
const logUnsent =
  ({ log }: Pick<ApiDeps, 'log'>) =>
  (error: Error & { headerSent?: boolean }, ctx: Context): void => {
    if (error.headerSent)
      log.debug({ err: error, ...describeRequest(ctx) }, 'the connection ended during the response');
    else log.error({ err: error, ...describeRequest(ctx) }, 'could not send a response');
  };

const toPattern = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/**
 * Returns the routes. A path without parameters takes precedence over one with a parameter that could stand for its last
 * segment, in every method (OpenAPI 3.1, "Path Templating Matching"). Such paths are found in a map; the router would
 * match the busiest requests against every pattern (docs/performance.md).
 */
function createRoutes(deps: ApiDeps): Middleware {
  const router = new Router({ sensitive: true, strict: true });
  const cursors = createCursors(deps.keychain);
  const fixed = new Map<string, Map<string, Middleware>>(); // by path, then by method
  const templates = new Set<string>();
  for (const operation of OPERATIONS) {
    const { path, method } = operation;
    const serve = runOperation(operation, cursors, deps);
    if (path.includes('{')) {
      templates.add(path);
      router[method](toPattern(path), serve as RouterMiddleware);
      continue;
    }
    const atPath = fixed.get(path) ?? new Map<string, Middleware>();
    fixed.set(path, atPath.set(method.toUpperCase(), serve));
    if (method === 'get') atPath.set('HEAD', serve);
  }
  for (const path of [...templates, ...addDocuments(router)])
    router.all(toPattern(path), ctx => refuseMethod(ctx, path));
  addManual(router);
  addDashboard(router);
  const route = router.routes() as Middleware;
  return (ctx, next) => {
    const atPath = fixed.get(ctx.path);
    if (!atPath) return route(ctx, next);
    const serve = atPath.get(ctx.method);
    return serve ? serve(ctx, next) : refuseMethod(ctx, ctx.path);
  };
}

const CROSS_ORIGIN_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Refuses a path without a route. Pages of other origins can read the problem, so their preflight succeeds; otherwise a
 * mistake in a path would appear in the browser as a network error.
 */
function refuseUnknownPath(ctx: Context): void {
  if (isPreflight(ctx)) {
    answerPreflight(ctx, CROSS_ORIGIN_METHODS);
    ctx.status = 204;
    return;
  }
  allowAnyOrigin(ctx);
  throw new Problem('resource-not-found', 'No resource exists at this path.');
}

/** The methods in general use. A path without one of them replies 405; any other method is 501. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY']);

/** Replies to a method that the path does not support: a preflight for its cross-origin methods, otherwise a problem. */
function refuseMethod(ctx: Context, path: string): void {
  const operations = OPERATIONS.filter(operation => operation.path === path);
  const methods = operations.length > 0 ? operations.map(operation => operation.method.toUpperCase()) : ['GET'];
  ctx.state.route = path;
  ctx.set('Allow', [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', '));
  const open = operations.filter(operation => operation.crossOrigin).map(operation => operation.method.toUpperCase());
  if (ctx.method === 'OPTIONS') {
    if (open.length > 0) answerPreflight(ctx, open);
    ctx.status = 204;
    return;
  }
  if (open.length > 0) allowAnyOrigin(ctx);
  if (!KNOWN_METHODS.has(ctx.method)) throw new Problem('method-unknown', 'The HTTP method is unknown.');
  throw new Problem('method-not-allowed', `This path supports ${methods.join(', ')}.`);
}
