import type { Context } from 'koa';

const ALLOWED_HEADERS =
  'Authorization, Content-Type, If-None-Match, If-Match, traceparent, tracestate, baggage, X-Request-Id, Last-Event-ID, Content-Disposition, Repr-Digest, Upload-Offset';
const EXPOSED_HEADERS =
  'ETag, Link, Location, Updated-Until, Upload-Offset, Deprecation, Sunset, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, WWW-Authenticate';
const PREFLIGHT_SECONDS = '7200';

/** The headers that let any origin read a response. Cookies are never sent along, so the origin has no additional rights. */
export const ANY_ORIGIN = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED_HEADERS,
};

/** Lets any origin read the response. */
export function allowAnyOrigin(ctx: Context): void {
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Access-Control-Expose-Headers', EXPOSED_HEADERS);
}

/** Whether the request asks, on behalf of a page of another origin, which request it may send. */
export const isPreflight = (ctx: Context): boolean =>
  ctx.method === 'OPTIONS' && ctx.req.headers['access-control-request-method'] !== undefined;

/** Sets the reply to a preflight for a path with the given cross-origin methods. */
export function answerPreflight(ctx: Context, methods: string[]): void {
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Access-Control-Allow-Methods', methods.join(', '));
  ctx.set('Access-Control-Allow-Headers', ALLOWED_HEADERS);
  ctx.set('Access-Control-Max-Age', PREFLIGHT_SECONDS);
}
