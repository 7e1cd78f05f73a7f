import { randomUUID } from 'node:crypto';
import type { Context, Next } from 'koa';

const FORM = /^[A-Za-z0-9._-]{1,128}$/;

/** Names every request: the caller's own `X-Request-Id` where it has the form, else a new one. */
export const requestId = () => (ctx: Context, next: Next) => {
  const sent = ctx.get('X-Request-Id');
  ctx.state.requestId = FORM.test(sent) ? sent : randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
  return next();
};
