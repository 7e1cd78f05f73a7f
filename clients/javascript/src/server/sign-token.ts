import { ParleyError } from '../errors.ts';

export interface TokenGrant {
  /** ID of a server key, `key_…` (SERVICE_API_KEY_ID). */
  keyId: string;
  /** Secret of that key (SERVICE_API_KEY_SECRET). */
  secret: string;
  /** `tenant_…` (SERVICE_TENANT_ID). */
  tenantId: string;
  /** User id in your system; pass integer ids as strings. */
  identity: string;
  /** Lifetime in seconds, 1 to 3600; defaults to 3600. */
  lifetimeSeconds?: number;
  /** Current time in seconds since 1970, for tests. */
  now?: number;
}

/** The header of every access token (specification 5.3). */
const HEADER = { alg: 'HS256', typ: 'JWT', cty: 'svc-fpa;v=1' };
const LIFETIME_SECONDS = 3600;
const MAX_IDENTITY = 256;

const toBase64Url = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');

const encodePart = (part: object): string => toBase64Url(new TextEncoder().encode(JSON.stringify(part)));

function demand(isRight: boolean, argument: string, what: string): void {
  if (!isRight) throw new ParleyError('invalid-argument', `${argument} must be ${what}.`, { code: argument });
}

/** Validates the arguments with the server's rules. */
function check({ keyId, secret, tenantId, identity, lifetimeSeconds = LIFETIME_SECONDS }: TokenGrant): void {
  demand(/^key_\w+$/.test(keyId), 'keyId', 'the id of an API key, key_…');
  demand(
    typeof secret === 'string' && secret !== '' && !secret.startsWith('sk_'),
    'secret',
    'the secret of the API key, not its bearer value',
  );
  demand(/^tenant_\w+$/.test(tenantId), 'tenantId', 'the id of a tenant, tenant_…');
  const length = typeof identity === 'string' ? [...identity].length : 0;
  demand(
    length >= 1 && length <= MAX_IDENTITY,
    'identity',
    'a string of 1 to 256 characters; send integer ids as strings',
  );
  demand(!/\p{Cc}|\p{Cs}/u.test(identity), 'identity', 'without control characters');
  demand(identity === identity.normalize('NFC'), 'identity', 'in Unicode normalization form C');
  const isLife = Number.isInteger(lifetimeSeconds) && lifetimeSeconds >= 1 && lifetimeSeconds <= LIFETIME_SECONDS;
  demand(isLife, 'lifetimeSeconds', 'a whole number from 1 to 3600');
}

/**
 * Signs an access token for one of your users, with Web Crypto.
 *
 * Backend only: the secret allows impersonating every user. Rejects with `invalid-argument`.
 */
export async function signToken(grant: TokenGrant): Promise<string> {
  check(grant);
  const { keyId, secret, tenantId, identity, lifetimeSeconds = LIFETIME_SECONDS, now = Date.now() / 1000 } = grant;
  const claims = { iss: keyId, sub: tenantId, exp: Math.floor(now) + lifetimeSeconds, grants: { identity } };
  const signed = `${encodePart(HEADER)}.${encodePart(claims)}`;
  const utf8 = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', utf8.encode(secret), algorithm, false, ['sign']);
  return `${signed}.${toBase64Url(new Uint8Array(await crypto.subtle.sign('HMAC', key, utf8.encode(signed))))}`;
}
