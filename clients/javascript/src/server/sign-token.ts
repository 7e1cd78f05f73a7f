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

type Jose = typeof import('jose');

/** Loads jose, a peer dependency of this function only. */
async function loadJose(): Promise<Jose> {
  try {
    return await import('jose');
  } catch (cause) {
    throw new ParleyError('invalid-argument', 'signToken needs the package jose: npm install jose', { cause });
  }
}

/**
 * Signs an access token for one of your users, with jose.
 *
 * Backend only: the secret allows impersonating every user. Rejects with `invalid-argument`.
 */
export async function signToken(grant: TokenGrant): Promise<string> {
  check(grant);
  const { keyId, secret, tenantId, identity, lifetimeSeconds = LIFETIME_SECONDS, now = Date.now() / 1000 } = grant;
  const { SignJWT } = await loadJose();
  const claims = { iss: keyId, sub: tenantId, exp: Math.floor(now) + lifetimeSeconds, grants: { identity } };
  return new SignJWT(claims).setProtectedHeader(HEADER).sign(new TextEncoder().encode(secret));
}
