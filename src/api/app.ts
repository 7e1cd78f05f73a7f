import Router, { type RouterMiddleware } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { Problem } from '../domain/problem.ts';
import { createCursors } from './cursors.ts';
import { addDashboard } from './dashboard.ts';
import type { ApiDeps } from './deps.ts';
import { addDocuments } from './documents.ts';
import { holdHeaders } from './header-list.ts';
import { answerPreflight, isCrossOrigin } from './middleware/cors.ts';
import { measure } from './middleware/measure.ts';
import { problem } from './middleware/problem.ts';
import { requestId } from './middleware/request-id.ts';
import { trace } from './middleware/trace.ts';
import { wellFormed } from './middleware/well-formed.ts';
import { OPERATIONS } from './routes/index.ts';
import { runOperation } from './run-operation.ts';
import { securityHeadersOf } from './security-headers.ts';

/** The application: what every request passes, in order. Authentication to reply is one operation's business. */
export function createApp(deps: ApiDeps): Koa {
  const app = new Koa();
  app.silent = true; // whatever escapes is logged by `problem`, once
  holdHeaders(app, securityHeadersOf(deps.config.BASE_URL));
  app.use(requestId());
  if (deps.spans) app.use(trace(deps.spans));
  app.use(measure(deps)).use(problem(deps)).use(wellFormed()).use(createRoutes(deps));
  return app;
}

const toPattern = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/**
 * The routes. Operations whose path has no parameters are looked up before the router is asked, which would match the
 * busiest requests against every pattern it knows (docs/performance.md).
 */
function createRoutes(deps: ApiDeps): Middleware {
  const router = new Router({ sensitive: true, strict: true });
  const cursors = createCursors(deps.keychain);
  const fixed = new Map<string, Middleware>();
  for (const operation of OPERATIONS) {
    const serve = runOperation(operation, cursors, deps);
    router[operation.method](toPattern(operation.path), serve as RouterMiddleware);
    if (!operation.path.includes('{')) fixed.set(`${operation.method.toUpperCase()} ${operation.path}`, serve);
  }
  for (const path of new Set([...OPERATIONS.map(operation => operation.path), ...addDocuments(router)]))
    router.all(toPattern(path), ctx => refuseMethod(ctx, path));
  addDashboard(router);
  const route = router.routes() as Middleware;
  return (ctx, next) => (fixed.get(`${ctx.method} ${ctx.path}`) ?? route)(ctx, next);
}

const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A path that exists, asked by a method that it does not take; a preflight is answered for its cross-origin methods. */
function refuseMethod(ctx: Context, path: string): void {
  const operations = OPERATIONS.filter(operation => operation.path === path);
  const methods = operations.length > 0 ? operations.map(operation => operation.method.toUpperCase()) : ['GET'];
  ctx.state.route = path;
  ctx.state.handled = true;
  ctx.set('Allow', [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', '));
  if (ctx.method === 'OPTIONS') {
    const open = operations.filter(isCrossOrigin).map(operation => operation.method.toUpperCase());
    if (open.length > 0) answerPreflight(ctx, open);
    ctx.status = 204;
    return;
  }
  if (!KNOWN_METHODS.has(ctx.method)) throw new Problem('method-unknown', 'The method is not known.');
  throw new Problem('method-not-allowed', `This path takes ${methods.join(', ')}.`);
}
