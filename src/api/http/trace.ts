import type { Middleware } from 'koa';
import type { Spans } from '../../platform/spans.ts';

/** Probes arrive every few seconds; their traces are of no use. */
const PROBES = new Set(['/livez', '/readyz']);

/**
 * Creates a span for each request, named after its route, in the caller's trace (`traceparent`).
 *
 * Contains no path or query, which may have ids and search words, and no caller.
 */
export const trace =
  (spans: Spans): Middleware =>
  async (ctx, next) => {
    if (PROBES.has(ctx.path)) return next();
    const attributes = {
      'http.request.method': ctx.method,
      'url.scheme': ctx.protocol,
      'parley.request_id': ctx.state.requestId,
    };
    await spans.inSpan({ name: ctx.method, kind: 'server', carrier: ctx.req.headers, attributes }, async span => {
      await next();
      const { route } = ctx.state;
      if (route) span.updateName(`${ctx.method} ${route}`).setAttribute('http.route', route);
      span.setAttribute('http.response.status_code', ctx.status);
      if (ctx.status >= 500) spans.fail(span, String(ctx.status));
    });
  };
