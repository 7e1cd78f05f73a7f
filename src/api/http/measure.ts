import type { Context } from 'koa';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';

/** Measures a request under the pattern of its route; to be called when it begins, and what that gives when it ends. */
export function measure(ctx: Context, { metrics, log }: { metrics: Metrics; log: Log }): () => void {
  const startedAt = performance.now();
  metrics.inFlight.requests++;
  return () => {
    const seconds = (performance.now() - startedAt) / 1000;
    const route = ctx.state.route ?? 'unmatched';
    const method = ctx.state.route ? ctx.method : 'other';
    metrics.inFlight.requests--;
    metrics.httpDuration.observe({ method, route, status: ctx.status }, seconds);
    if (!log.isLevelEnabled('debug')) return;
    const { requestId } = ctx.state;
    log.debug({ request_id: requestId, method: ctx.method, route, status: ctx.status, seconds }, 'answered');
  };
}
