import type { RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import Router, { type RouterMiddleware } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { Problem } from '../domain/problem.ts';
import type { ApiDeps } from './deps.ts';
import { answerPreflight, isCrossOrigin } from './http/cors.ts';
import { createCursors } from './http/cursors.ts';
import { holdHeaders } from './http/header-list.ts';
import { measure } from './http/measure.ts';
import { describeRequest, replyWithProblem } from './http/problem.ts';
import { nameRequest } from './http/request-id.ts';
import { securityHeadersOf } from './http/security-headers.ts';
import { trace } from './http/trace.ts';
import { requireWellFormed } from './http/well-formed.ts';
import { runOperation } from './pipeline/run-operation.ts';
import { OPERATIONS } from './routes/index.ts';
import { addDashboard } from './site/dashboard.ts';
import { addDocuments } from './site/documents.ts';

/**
 * The application: what every request passes, in order. Authentication to reply is one operation's business.
 *
 * Koa gives the context. What it does around a chain of middleware is not needed: the steps are one function, and nobody
 * asks when a reply has left. Together that is a tenth of the garbage of a request (docs/performance.md).
 */
export function createApp(deps: ApiDeps): RequestListener {
  const app = new Koa();
  const writeHead = holdHeaders(app, securityHeadersOf(deps.config.BASE_URL));
  const route = createRoutes(deps);

  const serve = async (ctx: Context): Promise<void> => {
    const measured = measure(ctx, deps);
    try {
      requireWellFormed(ctx);
      await route(ctx, nothing);
      if (ctx.status === 404 && ctx.body == null && !ctx.state.handled)
        throw new Problem('resource-not-found', 'No resource exists at this path.');
    } catch (error) {
      replyWithProblem(ctx, error, deps);
    } finally {
      if (deps.isStopping()) ctx.set('Connection', 'close'); // asked last: it may have begun while the request was under way
      measured();
    }
    writeHead(ctx);
    sendBody(ctx);
  };

  const { spans } = deps;
  return (request, response) => {
    const ctx = app.createContext(request, response) as Context;
    response.statusCode = 404; // until somebody knows better
    nameRequest(ctx);
    (spans ? trace(spans, ctx, () => serve(ctx)) : serve(ctx)).catch(error => breakOff(ctx, error, deps));
  };
}

/** Sends what the context holds as the body, after the head; nothing where the method or the status takes none. */
function sendBody(ctx: Context): void {
  const { res, body } = ctx;
  if (body == null || ctx.method === 'HEAD' || !ctx.writable) res.end();
  else if (body instanceof Readable)
    pipeline(body, res).catch(() => undefined); // whoever asked has gone, and both ends are closed
  else res.end(body);
}

/** What even `replyWithProblem` met no reply for is a bug: logged whole, and the connection ends. */
function breakOff(ctx: Context, error: unknown, { log }: Pick<ApiDeps, 'log'>): void {
  log.error({ err: error, ...describeRequest(ctx) }, 'could not send a response');
  ctx.res.destroy();
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
  const fixed = new Map<string, Map<string, Middleware>>(); // by path and method: two levels spare the name of both in one
  for (const operation of OPERATIONS) {
    const serve = runOperation(operation, cursors, deps);
    router[operation.method](toPattern(operation.path), serve as RouterMiddleware);
    if (operation.path.includes('{')) continue;
    const atPath = fixed.get(operation.path) ?? new Map<string, Middleware>();
    fixed.set(operation.path, atPath.set(operation.method.toUpperCase(), serve));
  }
  for (const path of new Set([...OPERATIONS.map(operation => operation.path), ...addDocuments(router)]))
    router.all(toPattern(path), ctx => refuseMethod(ctx, path));
  addDashboard(router);
  const route = router.routes() as Middleware;
  return (ctx, next) => (fixed.get(ctx.path)?.get(ctx.method) ?? route)(ctx, next);
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
  if (!KNOWN_METHODS.has(ctx.method)) throw new Problem('method-unknown', 'The HTTP method is unknown.');
  throw new Problem('method-not-allowed', `This path supports ${methods.join(', ')}.`);
}
