import { z } from 'zod';
import { Account, Email, TriedCode, TriedPassword } from './accounts.ts';
import { HOUR_MS } from './durations.ts';
import { typeIdOut } from './ids.ts';
import { TimestampOut } from './text.ts';

/** Maximum staleness of `last_seen_at`. It is written at most this often, so that most reads cause no write. */
export const SEEN_EVERY_MS = 60_000;

/** Maximum stored length of a `User-Agent`. */
export const MAX_USER_AGENT = 200;

export const Login = z
  .strictObject({
    email: Email,
    password: TriedPassword,
    totp: TriedCode.optional().meta({ description: 'Authenticator code or recovery code' }),
  })
  .meta({ id: 'Login' });

/** The logged-in person, with the token that writes carry in `X-CSRF-Token`. */
export const LoggedIn = z.object({ member: Account, csrf_token: z.string() }).meta({ id: 'LoggedIn' });

export const LoginOptions = z
  .object({
    password_reset_by_mail: z.boolean(),
    needs_owner: z
      .boolean()
      .meta({ description: 'Whether the installation still has no owner, so that the setup link is due' }),
    oidc: z.object({ name: z.string(), login_url: z.string() }).meta({ id: 'IdentityProvider' }).nullable(),
  })
  .meta({ id: 'LoginOptions' });

export const Session = z
  .object({
    id: typeIdOut('session'),
    current: z.boolean().meta({ description: 'Whether this is the current session' }),
    user_agent: z.string(),
    ip: z
      .string()
      .nullable()
      .meta({ description: 'IP address, as the strictest `ip_mode` of the tenants of its account allows' }),
    created_at: TimestampOut,
    last_seen_at: TimestampOut,
    expires_at: TimestampOut,
  })
  .meta({ id: 'Session' });

/** Returns when a session ends, by inactivity or age. */
export const sessionEnd = (session: { last_seen_at: Date; expires_at: Date }, idleHours: number): Date =>
  new Date(Math.min(session.expires_at.getTime(), session.last_seen_at.getTime() + idleHours * HOUR_MS));
