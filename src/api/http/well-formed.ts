import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import { Problem } from '../../domain/problem.ts';
import { isOpenedByPeople } from './browser-addresses.ts';
import { allowAnyOrigin } from './cors.ts';

/** Counts a header, given in lower case. Node silently keeps one of some duplicates. */
export function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] as string;
    if (sent.length === name.length && sent.toLowerCase() === name) count++;
  }
  return count;
}

/**
 * Refuses requests that Node accepts: more or less than one `Host` (RFC 9112 section 3.2), percent-encoding that is not
 * UTF-8. Addresses that people open may have any encoding, since mail filters and providers add parameters to them.
 */
export const requireWellFormed: Middleware = (ctx, next) => {
  const hosts = countHeader(ctx.req, 'host');
  const refuse = (detail: string): Problem => {
    allowAnyOrigin(ctx); // no operation is known that could decide it
    return new Problem('malformed-request', detail);
  };
  if (hosts > 1 || (hosts === 0 && ctx.req.httpVersion === '1.1'))
    throw refuse('The request must have exactly one Host header.');
  if (!isOpenedByPeople(ctx.path) && !isDecodable(ctx.req.url ?? ''))
    throw refuse('The URL contains percent-encoding that is not UTF-8.');
  return next();
};

function isDecodable(address: string): boolean {
  if (!address.includes('%')) return true;
  try {
    decodeURIComponent(address);
    return true;
  } catch {
    return false; // there is no other way to check
  }
}
