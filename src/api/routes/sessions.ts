import { z } from 'zod';
import { newUuid, toTypeId, typeId } from '../../domain/ids.ts';
import { pageOf } from '../../domain/pages.ts';
import { notFound, Problem } from '../../domain/problem.ts';
import { LoggedIn, Login, LoginOptions, Session, sessionEnd } from '../../domain/sessions.ts';
import { sha256 } from '../../platform/secrets.ts';
import { findAccountOfSubject, findLogin, hasOwner, linkSubject } from '../../storage/accounts.ts';
import { acceptInvitation, findInvitation } from '../../storage/invitations.ts';
import {
  deleteSession,
  deleteSessions,
  listSessions as listSessionRows,
  startSession,
} from '../../storage/sessions.ts';
import type { PersonCaller } from '../caller.ts';
import { clearCookie, setCookie } from '../credentials/cookies.ts';
import { verifyLogin } from '../credentials/login.ts';
import {
  type LoginState,
  OIDC_CALLBACK_PATH,
  OIDC_LOGIN_PATH,
  OIDC_TIMEOUT_SECONDS,
  type OidcLogin,
  openLink,
  type Subject,
  sealLink,
} from '../credentials/oidc.ts';
import { beginSession, isSameOrigin, SESSION_COOKIE } from '../credentials/sessions.ts';
import type { ApiDeps } from '../deps.ts';
import { operation, reply, type UnreadRequest } from '../operation.ts';
import { withAuditEntry } from '../pipeline/audit-trail.ts';
import { deviceOf, replyLoggedIn } from '../pipeline/logged-in.ts';

const shared = { tag: 'Sessions' } as const;
const SessionPath = z.object({ id: typeId('session') });

/** The cookie with the state of a login at the identity provider, without its prefix. */
const OIDC_COOKIE = 'oidc';
/** The cookie of a subject waiting to be linked, without its prefix. */
const LINK_COOKIE = 'oidc_link';
const LOGIN_PAGE = '/dashboard/login';

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
  async handle(_, { config, mail, storage }) {
    return {
      password_reset_by_mail: mail !== undefined,
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

/** The page of the dashboard to open after a login by the identity provider. */
const ReturnTo = z
  .string()
  .max(500)
  .regex(
    /^[/]dashboard[/](?:\.?[A-Za-z0-9/_~?=&%-])*\.?$/,
    'Must be a path of the dashboard such as /dashboard/questions.',
  )
  .default('/dashboard/')
  .meta({ description: 'The page of the dashboard to open after the login' });

const toOidc = (deps: ApiDeps): OidcLogin => {
  if (!deps.oidc) throw new Problem('resource-not-found', 'No identity provider is configured.');
  return deps.oidc;
};

export const beginOidcLogin = operation({
  ...shared,
  id: 'beginOidcLogin',
  method: 'get',
  path: OIDC_LOGIN_PATH,
  credentials: [],
  summary: 'Redirect to the identity provider',
  description: 'A request from a page of another site is redirected to the login page instead.',
  query: z.object({
    return_to: ReturnTo,
    invitation: z.string().max(200).optional().meta({ description: 'Token of the invitation to accept' }),
  }),
  status: 302,
  sends: ['Location', 'Set-Cookie'],
  problems: ['resource-not-found', 'identity-provider-unavailable', 'rate-limit-exceeded', 'database-unavailable'],
  async handle({ query, header, clientIp, limitIssue }, deps) {
    const { BASE_URL } = deps.config;
    if (!isSameOrigin(header('sec-fetch-site'), header('origin'), BASE_URL))
      return reply({ headers: { Location: LOGIN_PAGE } });
    await limitIssue('ip', clientIp());
    const { url, carried } = await toOidc(deps).begin(query.return_to, query.invitation, deps.now());
    const cookie = setCookie(OIDC_COOKIE, carried, OIDC_TIMEOUT_SECONDS, deps.config);
    return reply({ headers: { Location: url, 'Set-Cookie': cookie } });
  },
});

/** Parameters that providers send besides `code` and `state`. Only known ones are accepted. */
const CALLBACK_PARAMETERS = [
  'code',
  'state',
  'iss',
  'error',
  'error_description',
  'error_uri',
  'session_state',
  'scope',
];
const OTHER_PARAMETERS = ['authuser', 'hd', 'prompt'];

export const finishOidcLogin = operation({
  ...shared,
  id: 'finishOidcLogin',
  method: 'get',
  path: OIDC_CALLBACK_PATH,
  credentials: [],
  summary: 'Complete a login through the identity provider',
  description:
    "Accounts are identified by the provider's subject. A new person needs an invitation. An existing account is linked by one login with its password (`link-required`) and keeps its password and authenticator. On any error, the browser is redirected to the login page with `error`.",
  query: z.object(
    Object.fromEntries(
      [...CALLBACK_PARAMETERS, ...OTHER_PARAMETERS].map(name => [
        name,
        z
          .string()
          .max(4000)
          .optional()
          .meta({ description: `\`${name}\` of the identity provider's redirect` }),
      ]),
    ),
  ),
  status: 302,
  sends: ['Location', 'Set-Cookie'],
  problems: ['resource-not-found', 'rate-limit-exceeded'],
  async handle(request, deps) {
    await request.limitIssue('ip', request.clientIp());
    const { config, now } = deps;
    const sent = Object.entries(request.query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
    try {
      const { subject, loginState } = await toOidc(deps).finish(
        new URLSearchParams(sent as [string, string][]).toString(),
        request.cookie(OIDC_COOKIE),
        now(),
      );
      const cookie = await enterBySubject(subject, loginState, request, deps);
      return reply({
        headers: { Location: loginState.returnTo, 'Set-Cookie': [clearCookie(OIDC_COOKIE, config), cookie] },
      });
    } catch (error) {
      if (!(error instanceof Problem) || error.code === 'resource-not-found') throw error;
      deps.log.info(
        { code: error.code, reason: (error.cause as Error)?.message },
        'login through the identity provider failed',
      );
      deps.metrics.authAttempts.inc({ method: 'session', result: error.code });
      const link =
        error instanceof LinkRequired ? [setCookie(LINK_COOKIE, error.carried, OIDC_TIMEOUT_SECONDS, config)] : [];
      const headers = {
        Location: `${LOGIN_PAGE}?error=${error.code}`,
        'Set-Cookie': [clearCookie(OIDC_COOKIE, config), ...link],
      };
      return reply({ headers });
    }
  },
});

/** The address has an account that was never linked. With `carried`, its owner can link it by logging in. */
class LinkRequired extends Problem {
  readonly carried: string;

  constructor(carried: string) {
    super('link-required', 'An account with this address exists. Log in with its password to link it.');
    this.carried = carried;
  }
}

/**
 * Starts the session of a subject, and accepts the invitation if there is one.
 *
 * A verified address does not open an existing account: any page can start this login in a browser, and the account may
 * have been created by someone else who knows its password.
 */
async function enterBySubject(
  subject: Subject,
  { invitation: token }: LoginState,
  request: UnreadRequest<unknown>,
  deps: ApiDeps,
): Promise<string> {
  const { storage, now, metrics } = deps;
  const invitation = token === undefined ? undefined : await findInvitation(storage, sha256(token), now());
  if (invitation && invitation.email !== subject.email)
    throw new Problem(
      'login-failed',
      'The invitation is for a different address than the one verified by the identity provider.',
    );
  const known = await findAccountOfSubject(storage, subject.issuer, subject.subject);
  if (known === undefined) await refuseUnlinked(subject, deps);
  if (known === undefined && !invitation)
    throw new Problem('login-failed', 'No account has this address. Ask for an invitation.');
  const person = { id: known ?? newUuid(), email: subject.email ?? '', name: subject.name, password_hash: null };
  const started = beginSession(deviceOf(request), deps);
  await withAuditEntry(invitation ? 'member.joined' : 'session.started', request, deps, async transactionDeps => {
    const own = transactionDeps.storage.forAccount(person.id);
    const joiner = { ...person, exists: known !== undefined };
    if (invitation) await acceptInvitation(transactionDeps.storage, invitation, joiner, now());
    if (known === undefined) await linkSubject(own, { ...subject, email: person.email }, now());
    await startSession(own, started.row, now());
    return { actor: { accountId: person.id, tenantId: invitation?.tenant_id }, result: undefined };
  });
  metrics.authAttempts.inc({ method: 'session', result: 'ok' });
  return started.cookie;
}

/** Throws `link-required` for a subject whose verified address has an account. */
async function refuseUnlinked(subject: Subject, { storage, keychain, now }: ApiDeps): Promise<void> {
  const { email } = subject;
  if (email === undefined || !(await findLogin(storage, email))) return;
  throw new LinkRequired(sealLink(subject, email, keychain, now()));
}

/** Every operation on sessions. */
export const sessionRoutes = [
  readLoginOptions,
  logIn,
  logOut,
  listSessions,
  endSessions,
  readSession,
  endSession,
  beginOidcLogin,
  finishOidcLogin,
];
