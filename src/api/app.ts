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
import { replyWithProblem } from './middleware/problem.ts';
import { nameRequest } from './middleware/request-id.ts';
import { trace } from './middleware/trace.ts';
import { requireWellFormed } from './middleware/well-formed.ts';
import { OPERATIONS } from './routes/index.ts';
import { runOperation } from './run-operation.ts';
import { securityHeadersOf } from './security-headers.ts';

/**
 * The application: what every request passes, in order. Authentication to reply is one operation's business.
 *
 * It is one function because as middleware each of these is one more promise for every request (docs/performance.md).
 */
export function createApp(deps: ApiDeps): Koa {
  const app = new Koa();
  app.silent = true; // whatever escapes is logged by `replyWithProblem`, once
  const writeHead = holdHeaders(app, securityHeadersOf(deps.config.BASE_URL));
  const route = createRoutes(deps);

  const serve = async (ctx: Context): Promise<void> => {
    const measured = measure(ctx, deps);
    try {
      requireWellFormed(ctx);
      await route(ctx, nothing);
      if (ctx.status === 404 && ctx.body == null && !ctx.state.handled)
        throw new Problem('resource-not-found', 'There is nothing at this path.');
    } catch (error) {
      replyWithProblem(ctx, error, deps);
    } finally {
      if (deps.isStopping()) ctx.set('Connection', 'close'); // asked last: it may have begun while the request was under way
      measured();
    }
    writeHead(ctx);
  };

  const { spans } = deps;
  return app.use(ctx => {
    nameRequest(ctx);
    return spans ? trace(spans, ctx, () => serve(ctx)) : serve(ctx);
  });
}

/** What comes after the routes. */
const nothing = async (): Promise<void> => undefined;

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
