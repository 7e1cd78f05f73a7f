import { z } from 'zod';
import { arrayOf } from '../bounded.ts';
import { EXAMPLE_TIME } from '../documented.ts';
import { rule } from '../field-errors.ts';
import { parseTypeId, toTypeId, typeIdOut } from '../ids.ts';
import { fieldFault } from '../problem.ts';
import { label, Timestamp, TimestampOut } from '../text.ts';
import { DEFAULT_SCOPES, Scope } from './scopes.ts';

/** Maximum time for which a rotated secret may stay valid. */
export const MAX_OVERLAP_HOURS = 168;

/** Maximum number of unrevoked keys per tenant. */
export const MAX_KEYS = 50;

export const ApiKeyKind = z.enum(['server', 'public']);
export type ApiKeyKind = z.infer<typeof ApiKeyKind>;

export const ApiKeyStatus = z.enum(['active', 'rotating', 'expired', 'revoked']);
export type ApiKeyStatus = z.infer<typeof ApiKeyStatus>;

/** An origin as browsers send it (RFC 6454): scheme, host and, unless it is the default, port. */
const Origin = z
  .string()
  .max(255)
  .refine(
    value => /^https?:\/\/[^*]+$/.test(value) && URL.canParse(value) && new URL(value).origin === value,
    rule(
      'invalid-format',
      'Must be an origin as browsers send it, such as https://app.example.com: scheme, host and port, without a path or wildcard.',
    ),
  )
  .meta({ description: 'An origin as browsers send it', example: 'https://app.example.com' });

export const NewApiKey = z
  .strictObject({
    name: label(120),
    kind: ApiKeyKind.default('server'),
    scopes: arrayOf(Scope).min(1).optional(),
    expires_at: Timestamp.optional(),
    allowed_origins: arrayOf(Origin).max(50).default([]),
  })
  .meta({ id: 'ApiKeyInput', example: { name: 'Backend', scopes: ['answers:read', 'questions:write'] } });
export type NewApiKey = z.output<typeof NewApiKey>;

/** The mutable fields of a key. */
export const ApiKeyPatch = z
  .strictObject({
    name: label(120),
    scopes: arrayOf(Scope).min(1),
    expires_at: Timestamp.nullable(),
    allowed_origins: arrayOf(Origin).max(50),
  })
  .partial()
  .meta({ id: 'ApiKeyPatch', example: { name: 'Backend, production' } });
export type ApiKeyPatch = z.output<typeof ApiKeyPatch>;

/** Throws 422 when a new expiry is not in the future: the key could never be used again. */
export function requireFutureExpiry(expiresAt: Date | null | undefined, now: Date): void {
  if (expiresAt && expiresAt <= now)
    throw fieldFault('/expires_at', 'out-of-range', 'Must be in the future. To end a key now, revoke it.');
}

export const ApiKeyRotation = z
  .strictObject({
    overlap_hours: z.number().min(0).max(MAX_OVERLAP_HOURS).default(24).meta({
      description: 'Hours for which the previous secrets stay valid (0–168)',
      example: 24,
    }),
  })
  .meta({ id: 'ApiKeyRotation' });

export const ApiKey = z
  .object({
    id: typeIdOut('key'),
    name: z.string().meta({ example: 'Backend' }),
    kind: ApiKeyKind,
    scopes: z.array(Scope).meta({ example: DEFAULT_SCOPES }),
    status: ApiKeyStatus,
    hint: z.string().meta({ description: 'Last four characters of `api_key`', example: 'x7Qk' }),
    allowed_origins: z.array(z.string()),
    created_at: TimestampOut,
    expires_at: TimestampOut.nullable(),
    last_used_at: TimestampOut.nullable().meta({ example: EXAMPLE_TIME }),
    secret: z.string().optional().meta({ description: 'Secret for signing access tokens; shown only once' }),
    api_key: z.string().optional().meta({ description: 'Bearer token for server requests; shown only once' }),
  })
  .meta({
    id: 'ApiKey',
    variants: {
      created: { secret: 'Yk8wZ3J5c2VjcmV0LW9mLTMyLWJ5dGVzLWFzLXRleHQ', api_key: 'sk_01jdpnx3r0e008000000000001_Q2x…' },
    },
  });

/** The times that determine a key's status. */
export interface ApiKeyTimes {
  expires_at: Date | null;
  revoked_at: Date | null;
  previous_valid_until: Date | null;
}

/** Returns a key's status at a moment. A rotating key has two valid secrets. */
export function apiKeyStatus(key: ApiKeyTimes, now: Date): ApiKeyStatus {
  if (key.revoked_at) return 'revoked';
  if (key.expires_at && key.expires_at <= now) return 'expired';
  return key.previous_valid_until && key.previous_valid_until > now ? 'rotating' : 'active';
}

/**
 * How long a key may be used after its end, in milliseconds: processes without revocation updates accept cached keys
 * for this long. It also covers clock differences.
 */
export const KEY_END_LEEWAY_MS = 60_000;

/**
 * Returns why an answer must not be stored, or `undefined` when it may: it was received more than 60 s after its key,
 * or the secret used, had ended.
 *
 * `knownOverlapUntil` is `previous_valid_until` as known to the receiving process. If it differs, that process had not
 * received the rotation, so it accepted a previous secret.
 */
export function explainLateUse(
  key: ApiKeyTimes,
  receivedAt: Date,
  knownOverlapUntil: string | undefined,
): string | undefined {
  const isLate = (end: Date | null): end is Date =>
    end !== null && receivedAt.getTime() > end.getTime() + KEY_END_LEEWAY_MS;
  const { revoked_at, expires_at, previous_valid_until } = key;
  if (isLate(revoked_at)) return `The API key was revoked at ${revoked_at.toISOString()}.`;
  if (isLate(expires_at)) return `The API key expired at ${expires_at.toISOString()}.`;
  if (isLate(previous_valid_until) && previous_valid_until.toISOString() !== knownOverlapUntil)
    return `The API key was rotated. Its previous secret was valid until ${previous_valid_until.toISOString()}.`;
  return undefined;
}

/** The prefix that distinguishes API keys from access tokens. */
export const BEARER_PREFIX = 'sk_';
const BEARER_FORM = /^sk_([0-7][0-9a-hjkmnp-tv-z]{25})_[A-Za-z0-9_-]{43}$/;

/** Returns the bearer value of a key. It contains the key's id, so that a single lookup finds the key. */
export const toBearer = (keyId: string, random: string): string =>
  `${BEARER_PREFIX}${toTypeId('key', keyId).slice('key_'.length)}_${random}`;

/** Returns the key id in a bearer value; `undefined` when it is not a bearer value. */
export const keyIdOfBearer = (bearer: string): string | undefined => {
  const suffix = BEARER_FORM.exec(bearer)?.[1];
  return suffix && parseTypeId('key', `key_${suffix}`);
};

type StoredApiKey = ApiKeyTimes & {
  id: string;
  name: string;
  kind: ApiKeyKind;
  scopes: string[];
  hint: string;
  allowed_origins: string[];
  created_at: Date;
  last_used_at: Date | null;
};

/** Returns the part of a key that only requests change, for `If-Match`: its last use changes every 10 s. */
export const apiKeySettings = (row: Pick<StoredApiKey, 'name' | 'scopes' | 'allowed_origins'> & ApiKeyTimes) => ({
  name: row.name,
  scopes: row.scopes,
  allowed_origins: row.allowed_origins,
  expires_at: row.expires_at,
  revoked_at: row.revoked_at,
  previous_valid_until: row.previous_valid_until,
});

/** Returns a stored key as the API shows it. Values that are shown only once are included for a new key. */
export const presentApiKey = (row: StoredApiKey, now: Date, shownOnce: { secret?: string; api_key?: string } = {}) => ({
  id: toTypeId('key', row.id),
  name: row.name,
  kind: row.kind,
  scopes: row.scopes,
  status: apiKeyStatus(row, now),
  hint: row.hint,
  allowed_origins: row.allowed_origins,
  created_at: row.created_at,
  expires_at: row.expires_at,
  last_used_at: row.last_used_at,
  ...shownOnce,
});
