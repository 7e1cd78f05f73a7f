import type { Context, Middleware } from 'koa';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';

/** Records the duration of each request by the pattern of its route, until its reply is complete but not yet sent. */
export function measure({ metrics, log }: { metrics: Metrics; log: Log }): Middleware {
  const record = (ctx: Context, seconds: number): void => {
    const { requestId, route = 'unmatched' } = ctx.state;
    const method = ctx.state.route ? ctx.method : 'other';
    metrics.httpDuration.observe({ method, route, status: ctx.status }, seconds);
    if (!log.isLevelEnabled('debug')) return;
    log.debug({ request_id: requestId, method: ctx.method, route, status: ctx.status, seconds }, 'answered');
  };
  return async (ctx, next) => {
    const startedAt = performance.now();
    metrics.inFlight.requests++;
    try {
      await next();
    } finally {
      metrics.inFlight.requests--;
      record(ctx, (performance.now() - startedAt) / 1000);
    }
  };
}
