import type { Context } from 'koa';
import type { CredentialKind } from '../caller.ts';

const ALLOWED_HEADERS = 'Authorization, Content-Type, If-None-Match';
const EXPOSED_HEADERS =
  'ETag, Link, Location, Updated-Until, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, WWW-Authenticate';
const PREFLIGHT_SECONDS = '7200';

/**
 * Whether pages of other origins may call the operation: those for users' tokens, and the one that issues public
 * tokens.
 */
export const isCrossOrigin = ({ credentials, id }: { credentials: readonly CredentialKind[]; id: string }): boolean =>
  id === 'issuePublicToken' || credentials.some(kind => kind === 'access-token' || kind === 'public-access-token');

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
