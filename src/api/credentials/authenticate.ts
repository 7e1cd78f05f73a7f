import type { IncomingMessage } from 'node:http';
import { Problem } from '../../domain/problem.ts';
import { BEARER_PREFIX } from '../../domain/team/api-keys.ts';
import { RIGHTS, type Right, roleHolds } from '../../domain/team/roles.ts';
import type { Caller, CredentialKind, KeyCaller, TestCaller, UserCaller } from '../caller.ts';
import { countHeader } from '../http/well-formed.ts';
import { verifyBearerKey } from './bearer-keys.ts';
import type { CredentialDeps } from './deps.ts';
import type { KeySource } from './key-ring.ts';
import { authenticateSession } from './sessions.ts';
import { verifyTestToken } from './test-tokens.ts';

/** Returns the only `Authorization` header of a request, or `undefined`. Node silently keeps the first of two. */
export function authorizationOf(request: IncomingMessage): string | undefined {
  if (countHeader(request, 'authorization') > 1)
    throw new Problem('malformed-request', 'The Authorization header was sent more than once.');
  return request.headers.authorization;
}

type AuthDeps = Pick<
  CredentialDeps,
  'config' | 'keychain' | 'storage' | 'findSession' | 'keyRing' | 'tokens' | 'metrics' | 'now'
>;

/** The part of an operation that determines how its caller is authenticated. */
interface AcceptedCredentials {
  credentials: readonly CredentialKind[];
  lastKnownKeys?: boolean;
}

/** The label of each kind of credential in the metric. */
const METHODS = {
  'api-key': 'api_key',
  'access-token': 'jwt',
  'public-access-token': 'public',
  'test-token': 'test',
  session: 'session',
  person: 'session',
} as const;

/**
 * Returns the caller, by the `Authorization` header (cookies are then ignored) or by the session.
 *
 * Not a promise for a token that was verified before, because that is nearly every request: awaiting it costs a card fetch
 * more than the rest of the authentication.
 */
export function authenticate(
  request: IncomingMessage,
  authorization: string | undefined,
  { credentials, lastKnownKeys }: AcceptedCredentials,
  deps: AuthDeps,
): Caller | Promise<Caller> {
  if (authorization === undefined) return authenticateCookie(request, credentials, deps);
  const credential = readBearer(authorization);
  const keys = lastKnownKeys ? deps.keyRing.lastKnown : deps.keyRing;
  const known = deps.tokens.remembered(credential, deps.now(), keys);
  return known ? recordSuccess(known, deps) : verifyBearer(credential, keys, deps);
}

async function authenticateCookie(
  request: IncomingMessage,
  credentials: readonly CredentialKind[],
  deps: AuthDeps,
): Promise<Caller> {
  const caller = await authenticateSession(request, credentials.includes('session') ? 'session' : 'person', deps);
  if (!caller)
    throw new Problem('credentials-missing', 'The request has neither an Authorization header nor a session.');
  return caller;
}

function readBearer(authorization: string): string {
  const space = authorization.indexOf(' ');
  let start = space + 1;
  while (authorization[start] === ' ') start++; // one or more spaces (RFC 9110, section 11.4)
  const credential = authorization.slice(start);
  if (authorization.slice(0, space).toLowerCase() !== 'bearer' || credential === '' || credential.includes(' '))
    throw new Problem('credentials-invalid', 'The Authorization header must be "Bearer <token or API key>".');
  return credential;
}

/** Verifies a bearer credential. Values that start with `sk_` are API keys; all others must be access tokens. */
async function verifyBearer(credential: string, keys: KeySource, deps: AuthDeps): Promise<Caller> {
  const isKey = credential.startsWith(BEARER_PREFIX);
  const now = deps.now();
  try {
    const caller = isKey
      ? await verifyBearerKey(credential, keys, now)
      : ((await verifyTestToken(credential, deps.keychain, now)) ?? (await deps.tokens.verify(credential, now, keys)));
    return recordSuccess(caller, deps);
  } catch (error) {
    const result = error instanceof Problem ? error.code : 'internal-error';
    deps.metrics.authAttempts.inc({ method: METHODS[isKey ? 'api-key' : 'access-token'], result });
    throw error;
  }
}

/** Counts a valid credential and marks its key as used. */
function recordSuccess<C extends KeyCaller | UserCaller | TestCaller>(caller: C, { metrics, keyRing }: AuthDeps): C {
  metrics.authAttempts.inc({ method: METHODS[caller.kind], result: 'ok' });
  if ('keyId' in caller) keyRing.touch(caller.keyId);
  return caller;
}

/** The kinds of credentials in sentences. */
const KIND_NAMES: Record<CredentialKind, string> = {
  'api-key': 'an API key',
  'access-token': 'an access token',
  'public-access-token': 'a public access token',
  'test-token': 'a test token',
  session: 'a session',
  person: 'a session',
};

/** Throws 403 when the endpoint does not accept this kind of credential, or the caller lacks the right. */
export function authorize(caller: Caller, credentials: readonly CredentialKind[], right: Right | undefined): void {
  if (!credentials.includes(caller.kind)) {
    if (caller.kind === 'public-access-token')
      throw new Problem('public-access-restricted', 'Public access tokens cannot be used here.');
    throw new Problem(
      'insufficient-scope',
      `This endpoint requires ${credentials.map(kind => KIND_NAMES[kind]).join(' or ')}; the credential is ${KIND_NAMES[caller.kind]}.`,
    );
  }
  if (right === undefined) return;
  const { scope, roles } = RIGHTS[right];
  if (caller.kind === 'api-key' && scope !== null && !caller.scopes.has(scope))
    throw new Problem('insufficient-scope', `The API key lacks the scope ${scope}.`);
  if (caller.kind === 'session' && !roleHolds(caller.role, right))
    throw new Problem(
      'insufficient-scope',
      `This requires the role ${roles.join(' or ')}; your role is ${caller.role}.`,
    );
}
