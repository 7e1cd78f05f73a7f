import type { Context } from 'koa';

/** Returns the client's address: the entry of `X-Forwarded-For` added by the outermost of `hops` trusted proxies. */
export function clientIp(ctx: Context, hops: number): string {
  const forwarded =
    hops > 0
      ? ctx
          .get('X-Forwarded-For')
          .split(',')
          .map(entry => entry.trim())
      : [];
  return forwarded[forwarded.length - hops] || (ctx.req.socket.remoteAddress ?? '');
}
