import type { Context } from 'koa';
import type { CredentialKind } from '../caller.ts';

const ALLOWED_HEADERS = 'Authorization, Content-Type, If-None-Match';
const EXPOSED_HEADERS =
  'ETag, Link, Location, Updated-Until, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, WWW-Authenticate';
const PREFLIGHT_SECONDS = '7200';

/** Whether pages of other origins may call it: what users' tokens open, and where public tokens come from. */
export const isCrossOrigin = ({ credentials, id }: { credentials: readonly CredentialKind[]; id: string }): boolean =>
  id === 'issuePublicToken' || credentials.some(kind => kind === 'access-token' || kind === 'public-access-token');

/** Lets any origin read the response. No cookie is ever taken along, so the origin gains nothing by itself. */
export function allowAnyOrigin(ctx: Context): void {
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Access-Control-Expose-Headers', EXPOSED_HEADERS);
}

/** Answers a preflight for a path whose cross-origin methods are given. */
export function answerPreflight(ctx: Context, methods: string[]): void {
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Access-Control-Allow-Methods', methods.join(', '));
  ctx.set('Access-Control-Allow-Headers', ALLOWED_HEADERS);
  ctx.set('Access-Control-Max-Age', PREFLIGHT_SECONDS);
}
