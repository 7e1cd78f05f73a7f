import { z } from 'zod';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { pageOf } from '../../domain/pages.ts';
import { notFound } from '../../domain/problem.ts';
import { LoggedIn, Login, LoginOptions, Session, sessionEnd } from '../../domain/team/sessions.ts';
import { sendsMails } from '../../platform/mail.ts';
import { hasOwner } from '../../storage/team/accounts.ts';
import {
  deleteSession,
  deleteSessions,
  listSessions as listSessionRows,
  startSession,
} from '../../storage/team/sessions.ts';
import { linkSubject } from '../../storage/team/subjects.ts';
import type { PersonCaller } from '../caller.ts';
import { clearCookie } from '../credentials/cookies.ts';
import { verifyLogin } from '../credentials/login.ts';
import { LINK_COOKIE, openLink } from '../credentials/oidc.ts';
import { beginSession, SESSION_COOKIE } from '../credentials/sessions.ts';
import type { ApiDeps } from '../deps.ts';
import { OIDC_LOGIN_PATH } from '../http/browser-addresses.ts';
import { operation, reply, type UnreadRequest } from '../operation.ts';
import { withAuditEntry } from '../pipeline/audit-trail.ts';
import { deviceOf, replyLoggedIn } from '../pipeline/logged-in.ts';

const shared = { tag: 'Sessions' } as const;
const SessionPath = z.object({ id: typeId('session') });

export const readLoginOptions = operation({
  ...shared,
  id: 'readLoginOptions',
  method: 'get',
  path: '/v1/login-options',
  credentials: [],
  summary: 'List the available login methods',
  description:
    'For the login page: whether password resets are sent by mail, whether an owner is missing, and the identity provider if one is configured.',
  status: 200,
  response: LoginOptions,
  async handle(_, { config, storage }) {
    return {
      password_reset_by_mail: sendsMails(config),
      needs_owner: !(await hasOwner(storage)),
      oidc: config.OIDC_ISSUER ? { name: config.OIDC_NAME, login_url: OIDC_LOGIN_PATH } : null,
    };
  },
});

export const logIn = operation({
  ...shared,
  id: 'logIn',
  method: 'post',
  path: '/v1/session',
  credentials: [],
  summary: 'Log in to the dashboard',
  description:
    'Sets an HTTP-only cookie. The limits in 15 minutes are 10 failed logins per e-mail address and IP address, 200 per e-mail address, and 100 per IP address; a browser in which the person was logged in before has 10 of its own. An unknown address gets the same response as a wrong password, after the same time. After `link-required`, this login links the account to the identity provider.',
  sameOrigin: true,
  body: Login,
  status: 200,
  sends: ['Set-Cookie'],
  response: LoggedIn,
  problems: ['login-failed', 'totp-required', 'cross-site-request', 'rate-limit-exceeded', 'database-unavailable'],
  handle: (request, deps) =>
    withAuditEntry('session.started', request, deps, async transactionDeps => {
      const { storage, now } = transactionDeps;
      const { id, email } = await verifyLogin(request.body, request, transactionDeps);
      const started = beginSession(deviceOf(request), transactionDeps);
      await startSession(storage.forAccount(id), started.row, now());
      const isLinked = await linkPending(id, email, request, transactionDeps);
      const result = await replyLoggedIn(storage, id, started);
      if (isLinked)
        result.headers = { 'Set-Cookie': [started.cookie, clearCookie(LINK_COOKIE, transactionDeps.config)] };
      return { actor: { accountId: id }, result };
    }),
});

/** Links the authenticated account to the subject in the browser's cookie, if any. */
async function linkPending(
  accountId: string,
  email: string,
  request: UnreadRequest<unknown>,
  deps: ApiDeps,
): Promise<boolean> {
  const link = openLink(request.cookie(LINK_COOKIE), email, deps.keychain, deps.now());
  if (!link) return false;
  await withAuditEntry('account.updated', request, deps, async ({ storage, now }) => {
    await linkSubject(storage.forAccount(accountId), link, now());
    return { actor: { accountId }, result: undefined };
  });
  return true;
}

export const logOut = operation({
  ...shared,
  id: 'logOut',
  method: 'delete',
  path: '/v1/session',
  credentials: ['person'],
  summary: 'Log out of the current session',
  description: 'Ends the session and clears its cookie. Other sessions continue.',
  audit: 'session.ended',
  status: 204,
  sends: ['Set-Cookie'],
  async handle({ caller }, { storage, config }) {
    await deleteSession(storage.forAccount(caller.accountId), caller.sessionId);
    return reply({ status: 204, headers: { 'Set-Cookie': clearCookie(SESSION_COOKIE, config) } });
  },
});

export const listSessions = operation({
  ...shared,
  id: 'listSessions',
  method: 'get',
  path: '/v1/sessions',
  credentials: ['person'],
  summary: 'List your sessions, most recently used first',
  description: 'One entry per browser in which you are logged in. All of them fit into one page.',
  status: 200,
  response: pageOf(Session),
  async handle({ caller, page }, deps) {
    return page({ rows: await readLiveSessions(caller, deps), next: null }, session => session);
  },
});

/** Returns the caller's sessions that have not ended, as the API shows them. */
async function readLiveSessions({ accountId, sessionId }: PersonCaller, { storage, config, now }: ApiDeps) {
  const rows = await listSessionRows(storage.forAccount(accountId));
  return rows
    .map(row => ({
      ...row,
      id: toTypeId('session', row.id),
      current: row.id === sessionId,
      expires_at: sessionEnd(row, config.SESSION_IDLE_HOURS),
    }))
    .filter(({ expires_at }) => expires_at > now());
}

export const readSession = operation({
  ...shared,
  id: 'readSession',
  method: 'get',
  path: '/v1/sessions/{id}',
  credentials: ['person'],
  summary: 'Get one of your sessions',
  description: "Another person's session, and one that has ended, is 404.",
  params: SessionPath,
  status: 200,
  response: Session,
  etag: true,
  async handle({ caller, params }, deps) {
    const id = toTypeId('session', params.id);
    const session = (await readLiveSessions(caller, deps)).find(each => each.id === id);
    if (!session) throw notFound('session');
    return session;
  },
});

export const endSessions = operation({
  ...shared,
  id: 'endSessions',
  method: 'delete',
  path: '/v1/sessions',
  credentials: ['person'],
  summary: 'Log out everywhere: ends all your sessions, including the current one',
  description: 'Every browser has to log in again.',
  audit: 'sessions.ended',
  status: 204,
  sends: ['Set-Cookie'],
  async handle({ caller }, { storage, config }) {
    await deleteSessions(storage.forAccount(caller.accountId));
    return reply({ status: 204, headers: { 'Set-Cookie': clearCookie(SESSION_COOKIE, config) } });
  },
});

export const endSession = operation({
  ...shared,
  id: 'endSession',
  method: 'delete',
  path: '/v1/sessions/{id}',
  credentials: ['person'],
  summary: 'End one of your sessions',
  description:
    'The browser with that session is logged out with its next request. Ending an unknown session returns 404.',
  audit: 'session.ended',
  params: SessionPath,
  status: 204,
  async handle({ caller, params }, { storage }) {
    await deleteSession(storage.forAccount(caller.accountId), params.id);
  },
});

/** Every operation on sessions. */
export const sessionRoutes = [readLoginOptions, logIn, logOut, listSessions, endSessions, readSession, endSession];
