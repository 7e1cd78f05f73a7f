import { compactVerify, errors, SignJWT } from 'jose';
import { parseTypeId, toTypeId } from '../../domain/ids.ts';
import { Problem } from '../../domain/problem.ts';
import { CLOCK_LEEWAY_SECONDS, TEST_TOKEN_SECONDS, TOKEN_HEADER } from '../../domain/team/tokens.ts';
import type { Keychain } from '../../platform/secrets.ts';
import { type TestCaller, userName } from '../caller.ts';
import { readToken } from './access-tokens.ts';

/** Whom a test token is for: a member, and the question that they try out. */
export interface Tested {
  tenantId: string;
  questionId: string;
  memberId: string;
}

/** The identity as which a member answers. */
const identityOf = (memberId: string): string => `test|${toTypeId('member', memberId)}`;

/** The key that signs test tokens of an installation. No API key has it. */
const signingKey = (keychain: Keychain): Uint8Array => keychain.mac('test-tokens', 'signing');

/** Signs an access token for one question. Its issuer is the question, not an API key. */
export const signTestToken = (
  { tenantId, questionId, memberId }: Tested,
  keychain: Keychain,
  now: Date,
): Promise<string> =>
  new SignJWT({ grants: { identity: identityOf(memberId) } })
    .setProtectedHeader(TOKEN_HEADER)
    .setIssuer(toTypeId('question', questionId))
    .setSubject(toTypeId('tenant', tenantId))
    .setExpirationTime(Math.floor(now.getTime() / 1000) + TEST_TOKEN_SECONDS)
    .sign(signingKey(keychain));

const idIn = (prefix: 'question' | 'tenant' | 'member', value: unknown): string | undefined =>
  typeof value === 'string' ? parseTypeId(prefix, value) : undefined;

async function isSigned(token: string, keychain: Keychain): Promise<boolean> {
  try {
    await compactVerify(token, signingKey(keychain), { algorithms: [TOKEN_HEADER.alg] });
    return true;
  } catch (error) {
    if (error instanceof errors.JOSEError) return false;
    throw error;
  }
}

/**
 * Returns the caller of a test token; undefined for a token of another issuer.
 *
 * Throws `bad-signature` and `token-expired`. Whether the question and the member still exist is checked with each use.
 */
export async function verifyTestToken(token: string, keychain: Keychain, now: Date): Promise<TestCaller | undefined> {
  const { claims } = readToken(token);
  const questionId = idIn('question', claims.iss);
  if (!questionId) return undefined;
  if (!(await isSigned(token, keychain)))
    throw new Problem('bad-signature', 'The signature does not match that of a test token.');
  const { exp, sub, grants } = claims;
  const tenantId = idIn('tenant', sub) as string;
  const { identity } = grants as { identity: string };
  const memberId = idIn('member', identity.slice('test|'.length)) as string;
  if ((exp as number) + CLOCK_LEEWAY_SECONDS <= now.getTime() / 1000)
    throw new Problem('token-expired', 'The time in "exp" has passed.');
  const whose = { tenantId, identity, verified: true } as const;
  return { kind: 'test-token', ...whose, user: userName(whose), questionId, memberId };
}
