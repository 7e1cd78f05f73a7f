import type { Context } from 'koa';

/** The address of the client: the entry of `X-Forwarded-For` that the outermost of `hops` trusted proxies wrote. */
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
