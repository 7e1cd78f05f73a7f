import type { Context, Next } from 'koa';
import type { ApiDeps } from '../deps.ts';

/** Measures every request under the pattern of its route, and tells keep-alive clients of a stopping process to leave. */
export const measure = ({ metrics, log, isStopping }: Pick<ApiDeps, 'metrics' | 'log' | 'isStopping'>) =>
  async function measured(ctx: Context, next: Next) {
    const startedAt = performance.now();
    metrics.inFlight.requests++;
    try {
      await next();
    } finally {
      if (isStopping()) ctx.set('Connection', 'close'); // asked last: it may have begun while the request was under way
      const seconds = (performance.now() - startedAt) / 1000;
      const route = ctx.state.route ?? 'unmatched';
      const method = ctx.state.route ? ctx.method : 'other';
      metrics.inFlight.requests--;
      metrics.httpDuration.observe({ method, route, status: ctx.status }, seconds);
      log.debug(
        { request_id: ctx.state.requestId, method: ctx.method, route, status: ctx.status, seconds },
        'answered',
      );
    }
  };
