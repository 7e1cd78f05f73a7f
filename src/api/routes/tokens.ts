import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { parseTypeId, toTypeId, typeId } from '../../domain/ids.ts';
import { Problem } from '../../domain/problem.ts';
import {
  Inspection,
  InspectRequest,
  Me,
  PublicToken,
  PublicTokenRequest,
  TEST_TOKEN_SECONDS,
  TestToken,
  TOKEN_LIFETIME_SECONDS,
} from '../../domain/team/tokens.ts';
import { findQuestion } from '../../storage/questions/questions.ts';
import { findTenantKey } from '../../storage/team/api-keys.ts';
import type { PersonCaller, TeamCaller } from '../caller.ts';
import { findIssuer, readToken, signPublicToken, verifyAccessToken } from '../credentials/access-tokens.ts';
import { verifyBasicKey } from '../credentials/basic.ts';
import type { RingKey } from '../credentials/key-ring.ts';
import { DEVICE_COOKIE, rememberDevice } from '../credentials/known-devices.ts';
import { csrfTokenOf } from '../credentials/sessions.ts';
import { signTestToken } from '../credentials/test-tokens.ts';
import type { ApiDeps } from '../deps.ts';
import { operation, reply, type UnreadRequest } from '../operation.ts';
import { readAccount } from '../pipeline/logged-in.ts';

/** The tenant id is plain text, because an unknown one must look like every other credential failure. */
const IssuePath = z.object({
  tenant_id: z.string().meta({ description: '`tenant_…`', example: 'tenant_01jdpnx3r0e008000000000001' }),
});

/** Returns the key named in a request for a public token. Cached after the first use. */
const issuerOf = (
  { params, header }: Pick<UnreadRequest<z.infer<typeof IssuePath>>, 'params' | 'header'>,
  { keyRing, now }: Pick<ApiDeps, 'keyRing' | 'now'>,
) => verifyBasicKey(header('authorization'), parseTypeId('tenant', params.tenant_id), keyRing, now());

export const issuePublicToken = operation({
  id: 'issuePublicToken',
  method: 'post',
  path: '/v1/tenants/{tenant_id}/issuers/public/auth/token',
  tag: 'Tokens',
  summary: 'Issue a public access token',
  description:
    'For tenants without a backend. Not recommended, because the identity is not verified. Uses HTTP Basic authentication: the user name is `api_key`, the password is the id of a public API key. Requests without an `Origin` are allowed, because native apps do not send one.',
  credentials: [],
  basicAuth: true,
  crossOrigin: true,
  params: IssuePath,
  body: PublicTokenRequest,
  status: 200,
  response: PublicToken,
  problems: [
    'credentials-invalid',
    'api-key-not-public',
    'origin-not-allowed',
    'rate-limit-exceeded',
    'database-unavailable',
  ],

  async precheck({ params, header, clientIp, limitIssue }, { keyRing, now }) {
    await limitIssue('token-ip', clientIp());
    const key = await issuerOf({ params, header }, { keyRing, now });
    if (key.row.kind !== 'public')
      throw new Problem('api-key-not-public', 'The API key is a server key. Use the id of a public API key.');
    const origin = header('origin');
    if (origin !== undefined && key.row.allowed_origins.length > 0 && !key.row.allowed_origins.includes(origin))
      throw new Problem('origin-not-allowed', 'The origin is not among the allowed origins of the public API key.');
  },

  async handle({ params, header, body, limitIssue }, { keyRing, now }) {
    const key = await issuerOf({ params, header }, { keyRing, now });
    await limitIssue('token-user', `${key.row.id}\n${body.user_id}`);
    keyRing.touch(key.row.id);
    const access_token = await signPublicToken(key, body.user_id, now());
    return { access_token, token_type: 'Bearer', expires_in: TOKEN_LIFETIME_SECONDS };
  },
});

export const inspectToken = operation({
  id: 'inspectToken',
  method: 'post',
  path: '/v1/auth/inspect',
  tag: 'Tokens',
  summary: 'Debug an access token of the tenant',
  description:
    'Names the first fault of a token as the service would see it. Tokens of other tenants are reported as `unknown-issuer`. The reply contains no secret.',
  credentials: ['api-key', 'session'],
  right: 'tokens:inspect',
  body: InspectRequest,
  status: 200,
  response: Inspection,

  async handle({ caller, body }, deps) {
    const { keyRing, now } = deps;
    const ownKeys = { find: async (id: string) => ownKey(await keyRing.find(id), caller.tenantId) };
    const read = await outcomeOf(async () => readToken(body.token));
    const issuer = await outcomeOf(async () => read.value && findIssuer(read.value.claims, ownKeys, now()));
    const { problem } = await outcomeOf(() => verifyAccessToken(body.token, ownKeys, now()));
    return {
      valid: problem === undefined,
      code: problem?.code ?? null,
      detail:
        problem?.code === 'bad-signature' && (await usedDecodedSecret(body.token, issuer.value, caller, deps))
          ? 'The token was signed with the base64-decoded secret. Use the text of the secret in UTF-8 as the HMAC key.'
          : (problem?.message ?? 'The token is valid.'),
      header: read.value?.header ?? null,
      claims: read.value?.claims ?? null,
      key_kind: issuer.value?.row.kind ?? null,
    };
  },
});

/** Whether a token was signed with the bytes of which the secret is the base64url text, a common mistake. */
async function usedDecodedSecret(
  token: string,
  issuer: RingKey | undefined,
  { tenantId }: TeamCaller,
  { storage, keychain }: Pick<ApiDeps, 'storage' | 'keychain'>,
): Promise<boolean> {
  const row = issuer && (await findTenantKey(storage.forTenant(tenantId), issuer.row.id));
  if (!row) return false;
  const end = token.lastIndexOf('.');
  const decoded = Buffer.from(keychain.unseal(row.secret_sealed, row.id), 'base64url');
  return createHmac('sha256', decoded).update(token.slice(0, end)).digest('base64url') === token.slice(end + 1);
}

/** Treats keys of other tenants as missing. */
const ownKey = <K extends { row: { tenant_id: string } }>(key: K | undefined, tenantId: string): K | undefined =>
  key?.row.tenant_id === tenantId ? key : undefined;

/** Returns the value of a token check, or the problem that it threw. Other errors are thrown. */
async function outcomeOf<T>(check: () => Promise<T>): Promise<{ value?: T; problem?: Problem }> {
  try {
    return { value: await check() };
  } catch (error) {
    if (error instanceof Problem && error.kind === 'unauthenticated') return { problem: error };
    throw error;
  }
}

const describePerson = async (
  { accountId, sessionId, createdAt, expiresAt }: PersonCaller,
  { storage, keychain }: Pick<ApiDeps, 'storage' | 'keychain'>,
) => ({
  credential: 'session',
  account: await readAccount(storage, accountId),
  session: { id: toTypeId('session', sessionId), created_at: createdAt, expires_at: expiresAt },
  csrf_token: csrfTokenOf(sessionId, keychain),
});

export const whoAmI = operation({
  id: 'whoAmI',
  method: 'get',
  path: '/v1/me',
  tag: 'Tokens',
  summary: 'Get the identity of the current credential',
  description:
    'With a session, returns the person, their tenants, and the token to send as `X-CSRF-Token` in writes. Also sets a cookie that marks the browser as known, so that failed login attempts elsewhere cannot lock the person out of it.',
  credentials: ['access-token', 'public-access-token', 'person'],
  status: 200,
  sends: ['Set-Cookie'],
  response: Me,

  async handle({ caller, cookie }, deps) {
    if (caller.kind === 'person') {
      const device = rememberDevice(caller.email, caller.sessionId, cookie(DEVICE_COOKIE), deps);
      return reply({
        headers: device === undefined ? {} : { 'Set-Cookie': device },
        body: await describePerson(caller, deps),
      });
    }
    return {
      credential: caller.kind,
      tenant_id: toTypeId('tenant', caller.tenantId),
      identity: caller.identity,
      identity_verified: caller.verified,
      expires_at: caller.expiresAt,
    };
  },
});

export const issueTestToken = operation({
  id: 'issueTestToken',
  method: 'post',
  path: '/v1/questions/{id}/test-token',
  tag: 'Tokens',
  summary: 'Issue a token to try out a question',
  description:
    'The token is for an identity of the member, `test|member_…`, and for this question only, which need not be published: `GET /v1/cards` returns its card, and `POST /v1/answers` takes answers to it, which are stored at once. They are never counted, appear only in results with `test=true`, and are deleted after 24 hours.',
  credentials: ['session'],
  right: 'questions:write',
  showsSecret: true,
  params: z.object({ id: typeId('question') }),
  status: 200,
  response: TestToken,
  problems: ['invalid-transition'],
  async handle({ caller, params }, { storage, keychain, now }) {
    const question = await findQuestion(storage.forTenant(caller.tenantId), params.id);
    if (question.status === 'archived')
      throw new Problem('invalid-transition', 'An archived question cannot be tried out.', {
        extra: { from: 'archived', allowed: [] },
      });
    const tested = { tenantId: caller.tenantId, questionId: question.id, memberId: caller.memberId };
    return { access_token: await signTestToken(tested, keychain, now()), expires_in: TEST_TOKEN_SECONDS };
  },
});

/** Every operation on tokens. */
export const tokenRoutes = [issuePublicToken, inspectToken, issueTestToken, whoAmI];
