import type { Context } from 'koa';
import { parseAddress } from '../../platform/addresses.ts';

/**
 * Returns the client's address in canonical form: the entry of `X-Forwarded-For` added by the outermost of `hops` trusted
 * proxies. Null if that entry is no address.
 */
export function clientIp(ctx: Context, hops: number): string | null {
  const forwarded =
    hops > 0
      ? ctx
          .get('X-Forwarded-For')
          .split(',')
          .map(entry => entry.trim())
      : [];
  return parseAddress(forwarded[forwarded.length - hops] || (ctx.req.socket.remoteAddress ?? ''));
}
