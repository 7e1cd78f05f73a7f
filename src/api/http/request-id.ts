import { randomUUID } from 'node:crypto';
import type { Context } from 'koa';

const FORM = /^[A-Za-z0-9._-]{1,128}$/;

/** Names a request: the caller's own `X-Request-Id` where it has the form, else a new one. */
export function nameRequest(ctx: Context): void {
  const sent = ctx.req.headers['x-request-id'] as string | undefined;
  ctx.state.requestId = sent !== undefined && FORM.test(sent) ? sent : randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
}
