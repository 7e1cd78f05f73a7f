import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';

const FORM = /^[A-Za-z0-9._-]{1,128}$/;

/** Sets the request id: the caller's `X-Request-Id` if it is well-formed, otherwise a new one. */
export const nameRequest: Middleware = (ctx, next) => {
  const sent = ctx.req.headers['x-request-id'] as string | undefined;
  ctx.state.requestId = sent !== undefined && FORM.test(sent) ? sent : randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
  return next();
};
