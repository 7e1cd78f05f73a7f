import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { TOKEN_HEADER } from '../../src/domain/team/tokens.ts';
import type { TestApi, TestReply, TestRequest } from './api.ts';
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

/** The time in the unit of a token's claims. */
export const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** Claims of a valid token with a lifetime of an hour. */
export const goodClaims = (tenant: TestTenant, key: TestKey = tenant.key) => ({
  iss: key.id,
  sub: tenant.id,
  exp: nowSeconds() + 3600,
  grants: { identity: 'user|42' },
});

/** Builds a token without a library, so that every part can be wrong. */
export function forgeToken(tenant: TestTenant, parts: TokenParts = {}): string {
  const { header = TOKEN_HEADER, payload = goodClaims(tenant), secret = tenant.key.secret, digest = 'sha256' } = parts;
  const signed = `${encodePart(header)}.${encodePart(payload)}`;
  return `${signed}.${createHmac(digest, secret).update(signed).digest('base64url')}`;
}

/** Parts of a token that is valid except for these claims. */
export const withClaims = (tenant: TestTenant, claims: object): TokenParts => ({
  payload: { ...goodClaims(tenant), ...claims },
});

/** Parts of a token that is valid except for these header fields. */
export const withHeader = (header: object): TokenParts => ({ header: { ...TOKEN_HEADER, ...header } });

/** Expects the 401 of a token with this problem. */
export async function expectRejected(api: TestApi, token: string, code: string): Promise<void> {
  const reply = await api.request('GET', '/v1/me', { as: token });
  expect(reply.status).toBe(401);
  expect(reply.body).toMatchObject({ status: 401, code, type: `https://parley.test/problems/${code}` });
  expect(reply.headers.get('www-authenticate')).toBe(
    `Bearer error="invalid_token", error_description="${reply.body.title}"`,
  );
}

/** An `Authorization` header of HTTP Basic authentication. */
export const basicAuth = (userName: string, password: string): string =>
  `Basic ${Buffer.from(`${userName}:${password}`).toString('base64')}`;

/** The path on which a tenant's public tokens are issued. */
export const issuePath = (tenantId: string): string => `/v1/tenants/${tenantId}/issuers/public/auth/token`;

/** Requests a public token of `user|42`, or with another body. */
export const issueToken = (
  api: TestApi,
  tenant: { id: string },
  keyId: string,
  request: TestRequest = {},
): Promise<TestReply> =>
  api.request('POST', issuePath(tenant.id), {
    ...(request.raw === undefined ? { body: { user_id: 'user|42' } } : {}),
    ...request,
    headers: { authorization: basicAuth('api_key', keyId), ...request.headers },
  });
