import type { Context } from 'koa';

const ALLOWED_HEADERS = 'Authorization, Content-Type, If-None-Match';
const EXPOSED_HEADERS =
  'ETag, Link, Location, Updated-Until, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, WWW-Authenticate';
const PREFLIGHT_SECONDS = '7200';

/** Lets any origin read the response. Cookies are never sent along, so the origin has no additional rights. */
export function allowAnyOrigin(ctx: Context): void {
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Access-Control-Expose-Headers', EXPOSED_HEADERS);
}

/** Replies to a preflight for a path with the given cross-origin methods. */
export function answerPreflight(ctx: Context, methods: string[]): void {
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Access-Control-Allow-Methods', methods.join(', '));
  ctx.set('Access-Control-Allow-Headers', ALLOWED_HEADERS);
  ctx.set('Access-Control-Max-Age', PREFLIGHT_SECONDS);
}
