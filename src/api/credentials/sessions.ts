import type { IncomingMessage } from 'node:http';
import { newUuid, parseTypeId } from '../../domain/ids.ts';
import { Problem } from '../../domain/problem.ts';
import { MAX_USER_AGENT, SEEN_EVERY_MS, sessionEnd } from '../../domain/team/sessions.ts';
import { equalInConstantTime, type Keychain, randomSecret, sha256 } from '../../platform/secrets.ts';
import { type FoundSession, type NewSession, touchSession } from '../../storage/team/sessions.ts';
import type { PersonCaller, SessionCaller } from '../caller.ts';
import { readCookie, setCookie } from './cookies.ts';
import type { CredentialDeps } from './deps.ts';

/** The session cookie, without its prefix. */
export const SESSION_COOKIE = 'session';

type SessionDeps = Pick<CredentialDeps, 'config' | 'keychain' | 'storage' | 'now'>;

/** The token that writes of a session must carry. Derived from the session id, so that it need not be stored. */
export const csrfTokenOf = (sessionId: string, keychain: Keychain): string =>
  keychain.mac('csrf', sessionId).toString('base64url');

/**
 * Refuses writes sent by pages of other sites.
 *
 * Browsers set `Sec-Fetch-Site`, older ones `Origin`. A request with neither was not sent by a browser.
 */
export function requireSameOrigin({ headers }: Pick<IncomingMessage, 'headers'>, baseUrl: string): void {
  if (!isSameOrigin(headers['sec-fetch-site'], headers.origin, baseUrl))
    throw new Problem('cross-site-request', `Only pages under ${baseUrl} can send this request.`);
}

/** Whether a request was sent by Parley's own pages or outside a page, by `Sec-Fetch-Site` or else `Origin`. */
export const isSameOrigin = (
  site: string | string[] | undefined,
  origin: string | undefined,
  baseUrl: string,
): boolean => (site === undefined ? isOwnOrigin(origin, baseUrl) : site === 'same-origin' || site === 'none');

const isOwnOrigin = (origin: string | undefined, baseUrl: string): boolean =>
  origin === undefined || origin === new URL(baseUrl).origin;

/** Whether a method is unsafe in HTTP's sense. */
const isWrite = (method: string | undefined): boolean => method !== 'GET' && method !== 'HEAD';

/**
 * Returns the caller of a session cookie: a member of the tenant in `Tenant-Id`, or a person; `undefined` without a
 * session.
 *
 * Writes must come from Parley's own pages and carry the session's token. Either check alone would stop other sites.
 */
export async function authenticateSession(
  request: IncomingMessage,
  as: 'session' | 'person',
  deps: SessionDeps & Pick<CredentialDeps, 'findSession'>,
): Promise<SessionCaller | PersonCaller | undefined> {
  const token = readCookie(request, SESSION_COOKIE, deps.config);
  if (token === undefined) return undefined;
  const now = deps.now();
  const tenantId = as === 'session' ? tenantOf(request) : undefined;
  const found = await deps.findSession({ tokenHash: sha256(token), tenantId: tenantId ?? null });
  if (!found || sessionEnd(found, deps.config.SESSION_IDLE_HOURS) <= now)
    throw new Problem('session-ended', 'The session has expired or was ended.');
  if (isWrite(request.method)) requireOwnWrite(request, found.id, deps);
  if (as === 'session') requireTenant(request);
  if (now.getTime() - found.last_seen_at.getTime() > SEEN_EVERY_MS)
    await touchSession(deps.storage.forAccount(found.account_id), found.id, now);
  return as === 'session' ? asMember(found, tenantId) : asPerson(found);
}

function requireOwnWrite(request: IncomingMessage, sessionId: string, { config, keychain }: SessionDeps): void {
  requireSameOrigin(request, config.BASE_URL);
  const sent = request.headers['x-csrf-token'];
  const expected = Buffer.from(csrfTokenOf(sessionId, keychain));
  if (typeof sent !== 'string' || !equalInConstantTime(Buffer.from(sent), expected))
    throw new Problem('csrf-failed', 'The X-CSRF-Token header is missing or belongs to another session.');
}

/** Returns the tenant in `Tenant-Id`. A malformed id is treated like a tenant without members. */
const tenantOf = ({ headers }: IncomingMessage): string | undefined =>
  parseTypeId('tenant', String(headers['tenant-id'] ?? ''));

/** Called after the session was verified, because an ended session is the fault to correct first. */
function requireTenant({ headers }: IncomingMessage): void {
  if (headers['tenant-id']) return;
  throw new Problem('tenant-missing', 'Requests with a session require the Tenant-Id header.', {
    errors: [{ parameter: 'Tenant-Id', code: 'required', detail: 'Required: send the id of one of your tenants.' }],
  });
}

const asPerson = (found: FoundSession): PersonCaller => ({
  kind: 'person',
  accountId: found.account_id,
  sessionId: found.id,
  email: found.email,
  name: found.name,
  createdAt: found.created_at,
  expiresAt: found.expires_at,
});

function asMember(found: FoundSession, tenantId: string | undefined): SessionCaller {
  if (tenantId === undefined || found.member_id === null || found.role === null)
    throw new Problem('not-a-member', 'You are not a member of the tenant in `Tenant-Id`.');
  return { ...asPerson(found), kind: 'session', tenantId, memberId: found.member_id, role: found.role };
}

/** The browser that starts a session. */
export interface Device {
  userAgent: string;
  ip: string | null;
}

/** A new session: its row, its cookie, and the token for writes. */
export interface StartedSession {
  row: NewSession;
  cookie: string;
  csrfToken: string;
}

/**
 * Prepares a session.
 *
 * Its token is always new, to prevent session fixation.
 */
export function beginSession(
  { userAgent, ip }: Device,
  { config, keychain, now }: Omit<SessionDeps, 'storage'>,
): StartedSession {
  const token = randomSecret();
  const lifetimeSeconds = config.SESSION_MAX_DAYS * 86_400;
  const row = {
    id: newUuid(),
    token_hash: sha256(token),
    user_agent: userAgent.slice(0, MAX_USER_AGENT).toWellFormed(),
    ip,
    expires_at: new Date(now().getTime() + lifetimeSeconds * 1000),
  };
  return {
    row,
    cookie: setCookie(SESSION_COOKIE, token, lifetimeSeconds, config),
    csrfToken: csrfTokenOf(row.id, keychain),
  };
}
