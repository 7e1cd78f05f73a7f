import { z } from 'zod';
import { HOUR_MS } from '../durations.ts';
import { typeIdOut } from '../ids.ts';
import { TimestampOut } from '../text.ts';
import { Account, Email, TriedCode, TriedPassword } from './accounts.ts';

/** Maximum staleness of `last_seen_at`. It is written at most this often, so that most reads cause no write. */
export const SEEN_EVERY_MS = 60_000;

/** Maximum stored length of a `User-Agent`. */
export const MAX_USER_AGENT = 200;

/** The token of a session, and the end of one, in examples. */
export const EXAMPLE_CSRF = 'OTgxYmU2NGYtYjc5MS00NGM2LWE4ZTQtZGYxYjE0ZjQ3NjFj';
export const EXAMPLE_SESSION_END = '2026-12-21T07:00:00.000Z';

export const Login = z
  .strictObject({
    email: Email,
    password: TriedPassword,
    totp: TriedCode.optional().meta({ description: 'Authenticator code or recovery code' }),
  })
  .meta({ id: 'Login', example: {} });

/** The logged-in person, with the token that writes carry in `X-CSRF-Token`. */
export const LoggedIn = z
  .object({ member: Account, csrf_token: z.string() })
  .meta({ id: 'LoggedIn', example: { csrf_token: EXAMPLE_CSRF } });

export const LoginOptions = z
  .object({
    password_reset_by_mail: z.boolean(),
    needs_owner: z
      .boolean()
      .meta({ description: 'Whether the installation still has no owner, so that the setup link is due' }),
    oidc: z.object({ name: z.string(), login_url: z.string() }).meta({ id: 'IdentityProvider' }).nullable(),
  })
  .meta({
    id: 'LoginOptions',
    example: { password_reset_by_mail: true, oidc: { name: 'Acme SSO', login_url: '/v1/oidc/login' } },
  });

export const Session = z
  .object({
    id: typeIdOut('session'),
    current: z.boolean().meta({ description: 'Whether this is the current session', example: true }),
    user_agent: z.string().meta({ example: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' }),
    ip: z.string().nullable().meta({
      description: 'IP address, as the strictest `ip_mode` of the tenants of its account allows',
      example: '203.0.113.7',
    }),
    created_at: TimestampOut,
    last_seen_at: TimestampOut,
    expires_at: TimestampOut.meta({ example: EXAMPLE_SESSION_END }),
  })
  .meta({ id: 'Session' });

/** Returns when a session ends, by inactivity or age. */
export const sessionEnd = (session: { last_seen_at: Date; expires_at: Date }, idleHours: number): Date =>
  new Date(Math.min(session.expires_at.getTime(), session.last_seen_at.getTime() + idleHours * HOUR_MS));
