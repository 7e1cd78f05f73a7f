import type { Context, Next } from 'koa';
import { Problem } from '../../domain/problem.ts';

/** Refuses what Node lets through: other than one `Host` (RFC 9112 section 3.2), percent-encoding that is not UTF-8. */
export const wellFormed = () => (ctx: Context, next: Next) => {
  const hosts = ctx.req.headersDistinct.host?.length ?? 0;
  if (hosts > 1 || (hosts === 0 && ctx.req.httpVersion === '1.1'))
    throw new Problem('malformed-request', 'The request must carry one Host header.');
  if (!isDecodable(ctx.req.url ?? ''))
    throw new Problem('malformed-request', 'The address has percent-encoding that is not UTF-8.');
  return next();
};

function isDecodable(address: string): boolean {
  if (!address.includes('%')) return true;
  try {
    decodeURIComponent(address);
    return true;
  } catch {
    return false; // the language has no other way to ask
  }
}
