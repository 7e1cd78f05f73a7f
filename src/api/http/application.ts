import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import Koa, { type Context } from 'koa';

/**
 * Koa without `on-finished`, by which Koa reports that a connection has ended early: four listeners and an
 * `AsyncResource` per request, 7 % of a card fetch's CPU (docs/decisions/0031-work-per-request.md). Middleware, the context and
 * the handling of errors are Koa's.
 *
 * A connection that ends early is reported only if the response is a stream. Bodies are texts, bytes or streams.
 */
export class Application extends Koa {
  /** Runs the middleware, then sends the response. Replaces Koa's method, whose name is not part of its documentation. */
  handleRequest(ctx: Context, run: (ctx: Context) => Promise<void>): Promise<void> {
    ctx.res.statusCode = 404;
    return run(ctx)
      .then(() => sendBody(ctx))
      .catch(error => ctx.onerror(error));
  }
}

/** Ends the response. The headers have been written (`header-list.ts`). */
function sendBody(ctx: Context): Promise<void> | undefined {
  const { res, body } = ctx;
  if (body == null || ctx.method === 'HEAD' || !ctx.writable) res.end();
  else if (body instanceof Readable) return pipeline(body, res);
  else res.end(body);
  return undefined;
}
