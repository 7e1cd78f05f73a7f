import { z } from 'zod';
import { int32 } from '../documented.ts';
import { exampleId, typeIdOut } from '../ids.ts';
import { Identity, TimestampOut } from '../text.ts';
import { Account } from './accounts.ts';
import { EXAMPLE_CSRF, EXAMPLE_SESSION_END } from './sessions.ts';

/** The exact header of an access token (specification 5.3). */
export const TOKEN_HEADER = { alg: 'HS256', typ: 'JWT', cty: 'svc-fpa;v=1' } as const;

/** The lifetime of an access token and the leeway for clock differences, in seconds. */
export const TOKEN_LIFETIME_SECONDS = 3600;
export const CLOCK_LEEWAY_SECONDS = 60;

/** The lifetime of a test token in seconds. */
export const TEST_TOKEN_SECONDS = 900;

export const TOKEN_MAX_BYTES = 4096;

const token = 'eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJrZXkifQ.c2ln';

export const PublicTokenRequest = z.strictObject({ user_id: Identity }).meta({ id: 'PublicTokenRequest' });

export const PublicToken = z
  .object({ access_token: z.string(), token_type: z.literal('Bearer'), expires_in: int32(1) })
  .meta({ id: 'PublicToken', example: { access_token: token, expires_in: TOKEN_LIFETIME_SECONDS } });

export const TestToken = z
  .object({ access_token: z.string(), expires_in: int32(1) })
  .meta({ id: 'TestToken', example: { access_token: token, expires_in: TEST_TOKEN_SECONDS } });

export const InspectRequest = z
  .strictObject({ token: z.string().max(20_000).meta({ example: token }) })
  .meta({ id: 'InspectRequest' });

const claims = { iss: exampleId('key'), sub: exampleId('tenant'), exp: 1_795_240_800, grants: { identity: 'user|42' } };

export const Inspection = z
  .object({
    valid: z.boolean(),
    code: z.string().nullable().meta({
      description: 'Problem code of the 401 that the token would get; null if the token is valid',
      example: 'token-expired',
    }),
    detail: z.string().meta({ example: 'The token expired at 2026-11-21T06:00:00.000Z.' }),
    header: z.record(z.string(), z.unknown()).nullable().meta({ example: TOKEN_HEADER }),
    claims: z.record(z.string(), z.unknown()).nullable().meta({ example: claims }),
    key_kind: z.enum(['server', 'public']).nullable().meta({ example: 'server' }),
  })
  .meta({ id: 'Inspection' });

/** The user of an access token. */
const UserMe = z
  .object({
    credential: z.enum(['access-token', 'public-access-token']),
    tenant_id: typeIdOut('tenant'),
    identity: z.string(),
    identity_verified: z.boolean(),
    expires_at: TimestampOut,
  })
  .meta({ id: 'UserMe', example: { identity: 'user|42', identity_verified: true } });

/** The logged-in person, and the latest end of the session. */
const PersonMe = z
  .object({
    credential: z.literal('session'),
    account: Account,
    session: z
      .object({ id: typeIdOut('session'), created_at: TimestampOut, expires_at: TimestampOut })
      .meta({ id: 'CurrentSession', example: { expires_at: EXAMPLE_SESSION_END } }),
    csrf_token: z.string().meta({ description: 'Value of `X-CSRF-Token` in writes' }),
  })
  .meta({ id: 'PersonMe', example: { csrf_token: EXAMPLE_CSRF } });

export const Me = z.discriminatedUnion('credential', [UserMe, PersonMe]).meta({ id: 'Me' });
