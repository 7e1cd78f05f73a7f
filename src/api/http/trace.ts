import type { Context } from 'koa';
import type { Spans } from '../../platform/spans.ts';

/** Asked every few seconds by whoever runs the process; their traces would say nothing. */
const PROBES = new Set(['/livez', '/readyz']);

/**
 * Gives every request a span, under the pattern of its route, in the trace that the caller names (`traceparent`).
 *
 * Nothing of it tells who asked, for what, or with which words: paths and queries hold ids and searches.
 */
export async function trace(spans: Spans, ctx: Context, serve: () => Promise<void>): Promise<void> {
  if (PROBES.has(ctx.path)) return serve();
  const attributes = {
    'http.request.method': ctx.method,
    'url.scheme': ctx.protocol,
    'parley.request_id': ctx.state.requestId,
  };
  await spans.within({ name: ctx.method, kind: 'server', carrier: ctx.req.headers, attributes }, async span => {
    await serve();
    const { route } = ctx.state;
    if (route) span.updateName(`${ctx.method} ${route}`).setAttribute('http.route', route);
    span.setAttribute('http.response.status_code', ctx.status);
    if (ctx.status >= 500) spans.fail(span, String(ctx.status));
  });
}
