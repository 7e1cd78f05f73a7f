import { createHmac } from 'node:crypto';
import { TOKEN_HEADER } from '../../src/domain/tokens.ts';
import type { TestKey, TestTenant } from './make.ts';

/** The parts of a token before encoding; strings are used unchanged, so that they can be invalid JSON. */
export interface TokenParts {
  header?: object | string;
  payload?: object | string;
  secret?: string;
  /** The HMAC digest; sha256 for HS256. */
  digest?: string;
}

export const encodePart = (part: object | string): string =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');

/** Claims of a valid token with a lifetime of an hour. */
export const goodClaims = (tenant: TestTenant, key: TestKey = tenant.key) => ({
  iss: key.id,
  sub: tenant.id,
  exp: Math.floor(Date.now() / 1000) + 3600,
  grants: { identity: 'user|42' },
});

/** Builds a token without a library, so that every part can be wrong. */
export function forgeToken(tenant: TestTenant, parts: TokenParts = {}): string {
  const { header = TOKEN_HEADER, payload = goodClaims(tenant), secret = tenant.key.secret, digest = 'sha256' } = parts;
  const signed = `${encodePart(header)}.${encodePart(payload)}`;
  return `${signed}.${createHmac(digest, secret).update(signed).digest('base64url')}`;
}
