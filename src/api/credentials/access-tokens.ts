import { type CryptoKey, compactVerify, errors, SignJWT } from 'jose';
import { parseTypeId, toTypeId } from '../../domain/ids.ts';
import { Problem } from '../../domain/problem.ts';
import type { ProblemCode } from '../../domain/problem-catalog.ts';
import {
  CLOCK_LEEWAY_SECONDS,
  TOKEN_HEADER,
  TOKEN_LIFETIME_SECONDS,
  TOKEN_MAX_BYTES,
} from '../../domain/team/tokens.ts';
import { Identity } from '../../domain/text.ts';
import { parseInput } from '../../domain/validation.ts';
import { type UserCaller, userName } from '../caller.ts';
import type { KeySource, RingKey } from './key-ring.ts';

type JsonObject = Record<string, unknown>;

/** A parsed token, not yet verified. */
export interface ReadToken {
  header: JsonObject;
  claims: JsonObject;
}

const refuse = (code: ProblemCode, detail: string): Problem => new Problem(code, detail);

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses a part of a compact JWS. Accepts only canonical, unpadded base64url of a JSON object in UTF-8. */
function readPart(part: string, name: string): JsonObject {
  const bytes = Buffer.from(part, 'base64url');
  if (part === '' || bytes.toString('base64url') !== part)
    throw refuse('malformed-token', `The ${name} is not canonical unpadded base64url.`);
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch {
    throw refuse('malformed-token', `The ${name} is not JSON in UTF-8.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse('malformed-token', `The ${name} is not a JSON object.`);
  return value as JsonObject;
}

const SECRET_FORM = /^[A-Za-z0-9_-]{43}$/;

/** Returns a hint when another value of an API key was sent as the credential. */
function mistakenFor(token: string): string {
  const instead = 'Send an access token, or the `api_key` of a server key, which starts with sk_.';
  if (token.startsWith('key_')) return ` It looks like the id of an API key. ${instead}`;
  if (SECRET_FORM.test(token)) return ` It looks like the secret of an API key, which only signs tokens. ${instead}`;
  return '';
}

/** Parses a token. Throws `malformed-token`. */
export function readToken(token: string): ReadToken {
  if (Buffer.byteLength(token) > TOKEN_MAX_BYTES) throw refuse('malformed-token', 'The token is larger than 4 KB.');
  const parts = token.split('.');
  const [header, claims, signature] = parts;
  if (parts.length !== 3 || header === undefined || claims === undefined || signature === undefined)
    throw refuse('malformed-token', `The token does not have three parts separated by dots.${mistakenFor(token)}`);
  const read = { header: readPart(header, 'header'), claims: readPart(claims, 'payload') };
  if (signature === '' || Buffer.from(signature, 'base64url').toString('base64url') !== signature)
    throw refuse('malformed-token', 'The signature is not canonical unpadded base64url.');
  return read;
}

/** Allowed header parameters. `kid` is ignored, since only `iss` selects the key. */
const HEADER_PARAMETERS = new Set(['alg', 'typ', 'cty', 'kid']);

/** Hint for a missing parameter: libraries such as jjwt and ruby-jwt add only `alg`. */
const LEFT_OUT = ' It is missing: some JWT libraries leave it out unless you set it.';

function checkHeader(header: JsonObject): void {
  const foreign = Object.keys(header).find(name => !HEADER_PARAMETERS.has(name));
  if (foreign !== undefined)
    throw refuse('bad-header', `The header parameter "${foreign.slice(0, 40)}" is not allowed.`);
  for (const [name, wanted] of Object.entries(TOKEN_HEADER))
    if (header[name] !== wanted)
      throw refuse(
        'bad-header',
        `The header must contain "${name}": "${wanted}".${header[name] === undefined ? LEFT_OUT : ''}`,
      );
}

/** Returns the key that `iss` names, if it may still sign. */
export async function findIssuer(claims: JsonObject, keyRing: Pick<KeySource, 'find'>, now: Date): Promise<RingKey> {
  const id = typeof claims.iss === 'string' ? parseTypeId('key', claims.iss) : undefined;
  const key = id && (await keyRing.find(id));
  if (!key || ['revoked', 'expired'].includes(key.status(now)))
    throw refuse('unknown-issuer', '"iss" is not the id of a valid API key.');
  return key;
}

/** Checks the signature. Returns the key that made it: the current secret, or during rotation the previous one. */
async function checkSignature(token: string, key: RingKey, now: Date): Promise<CryptoKey> {
  for (const verifier of key.verifiers(now)) {
    try {
      await compactVerify(token, verifier, { algorithms: [TOKEN_HEADER.alg] });
      return verifier;
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
    }
  }
  throw refuse(
    'bad-signature',
    'The signature does not match the secret of the API key in "iss". Use the text of the secret in UTF-8 as the HMAC key; do not decode it from base64.',
  );
}

/** Times in seconds reach this number in the year 5138. */
const MILLISECONDS_FROM = 1e11;

/** Returns a hint for a time that was sent in milliseconds. */
const inMilliseconds = (time: unknown): string =>
  typeof time === 'number' && time >= MILLISECONDS_FROM
    ? ` Did you send milliseconds? Send seconds: ${Math.floor(time / 1000)}.`
    : '';

function checkTimes(claims: JsonObject, now: Date): Date {
  const nowSeconds = now.getTime() / 1000;
  const { exp } = claims;
  if (typeof exp !== 'number' || !Number.isFinite(exp))
    throw refuse('token-expired', '"exp" must be a number of seconds since 1970.');
  if (exp + CLOCK_LEEWAY_SECONDS <= nowSeconds) throw refuse('token-expired', 'The time in "exp" has passed.');
  if (exp > nowSeconds + TOKEN_LIFETIME_SECONDS + CLOCK_LEEWAY_SECONDS)
    throw refuse('lifetime-too-long', `"exp" is more than one hour ahead.${inMilliseconds(exp)}`);
  for (const name of ['nbf', 'iat'] as const) {
    const value = claims[name];
    if (value === undefined) continue;
    if (typeof value !== 'number' || !Number.isFinite(value) || value > nowSeconds + CLOCK_LEEWAY_SECONDS)
      throw refuse(
        'not-yet-valid',
        `"${name}" must be a time in seconds since 1970 that is not in the future.${inMilliseconds(value)}`,
      );
  }
  return new Date(exp * 1000);
}

function readIdentity(claims: JsonObject): string {
  const grants = claims.grants;
  if (typeof grants !== 'object' || grants === null || Array.isArray(grants) || !Object.hasOwn(grants, 'identity'))
    throw refuse('bad-identity', 'The payload must contain {"grants": {"identity": "…"}}.');
  const { identity } = grants as JsonObject;
  if (typeof identity === 'number')
    throw refuse('bad-identity', '"grants.identity" is a number: send integer ids as strings.');
  const parsed = parseInput(Identity, identity);
  if (!parsed.success) throw refuse('bad-identity', `"grants.identity" is invalid. ${parsed.faults[0]?.detail}`);
  return parsed.data;
}

/** A valid token: its user, the generation of the key that verified it, and its end in milliseconds since 1970. */
export interface VerifiedToken {
  caller: UserCaller;
  keyGeneration: number;
  validUntil: number;
}

/**
 * Returns the user of an access token.
 *
 * Checks in the order of the contract (section 2), each with a separate error code. Stricter than jose: canonical
 * encoding, exact header, a maximum lifetime, the tenant of the key. The kind of the key determines whether the token
 * is public, never a claim.
 */
export async function verifyAccessToken(
  token: string,
  keyRing: Pick<KeySource, 'find'>,
  now: Date,
): Promise<VerifiedToken> {
  const { header, claims } = readToken(token);
  checkHeader(header);
  const key = await findIssuer(claims, keyRing, now);
  const verifier = await checkSignature(token, key, now);
  if (claims.sub !== toTypeId('tenant', key.row.tenant_id))
    throw refuse('subject-mismatch', '"sub" is not the tenant of the API key in "iss".');
  const expiresAt = checkTimes(claims, now);
  const identity = readIdentity(claims);
  const verified = key.row.kind === 'server';
  const whose = { tenantId: key.row.tenant_id, identity, verified };
  const caller: UserCaller = {
    kind: verified ? 'access-token' : 'public-access-token',
    ...whose,
    keyId: key.row.id,
    keyOverlapUntil: key.row.previous_valid_until?.toISOString(),
    user: userName(whose),
    expiresAt,
  };
  const ends = [
    expiresAt.getTime() + CLOCK_LEEWAY_SECONDS * 1000,
    key.row.expires_at?.getTime(),
    verifier === key.signer ? undefined : key.row.previous_valid_until?.getTime(),
  ];
  return { caller, keyGeneration: key.generation, validUntil: Math.min(...ends.filter(end => end !== undefined)) };
}

/** Signs a public access token for a claimed user, valid for an hour. */
export const signPublicToken = (key: RingKey, identity: string, now: Date): Promise<string> =>
  new SignJWT({ grants: { identity } })
    .setProtectedHeader(TOKEN_HEADER)
    .setIssuer(toTypeId('key', key.row.id))
    .setSubject(toTypeId('tenant', key.row.tenant_id))
    .setExpirationTime(Math.floor(now.getTime() / 1000) + TOKEN_LIFETIME_SECONDS)
    .sign(key.signer);
