import { z } from 'zod';
import { newUuid } from '../../domain/ids.ts';
import { Problem } from '../../domain/problem.ts';
import { sha256 } from '../../platform/secrets.ts';
import { findLogin } from '../../storage/team/accounts.ts';
import { acceptInvitation, findInvitation } from '../../storage/team/invitations.ts';
import { startSession } from '../../storage/team/sessions.ts';
import { findAccountOfSubject, linkSubject } from '../../storage/team/subjects.ts';
import { clearCookie, setCookie } from '../credentials/cookies.ts';
import { describeFault, type Subject } from '../credentials/identity-provider.ts';
import { LINK_COOKIE, type LoginState, OIDC_TIMEOUT_SECONDS, type OidcLogin, sealLink } from '../credentials/oidc.ts';
import { beginSession, isSameOrigin } from '../credentials/sessions.ts';
import type { ApiDeps } from '../deps.ts';
import { loginPage, OIDC_CALLBACK_PATH, OIDC_LOGIN_PATH } from '../http/browser-addresses.ts';
import { type OperationReply, operation, reply, type UnreadRequest } from '../operation.ts';
import { withAuditEntry } from '../pipeline/audit-trail.ts';
import { deviceOf } from '../pipeline/logged-in.ts';

const shared = { tag: 'Sessions', method: 'get', status: 302 } as const;

/** The cookie with the begun logins at the identity provider, without its prefix. */
const OIDC_COOKIE = 'oidc';

const DASHBOARD = '/dashboard/';
const DASHBOARD_PATH = /^[/]dashboard[/](?:\.?[A-Za-z0-9/_~?=&%+-])*\.?$/;

/** The page of the dashboard to open after a login by the identity provider. */
const ReturnTo = z
  .string()
  .default(DASHBOARD)
  .transform(path => (path.length <= 500 && DASHBOARD_PATH.test(path) ? path : DASHBOARD))
  .meta({
    description: `The page of the dashboard to open after the login; any other value counts as \`${DASHBOARD}\``,
  });

const toOidc = (deps: ApiDeps): OidcLogin => {
  if (!deps.oidc) throw new Problem('resource-not-found', 'No identity provider is configured.');
  return deps.oidc;
};

export const beginOidcLogin = operation({
  ...shared,
  id: 'beginOidcLogin',
  path: OIDC_LOGIN_PATH,
  credentials: [],
  summary: 'Redirect to the identity provider',
  description:
    'For browsers. Unknown parameters are ignored. On any error, and for a request from a page of another site, the browser is redirected to the login page.',
  query: z.object({
    return_to: ReturnTo,
    invitation: z
      .string()
      .optional()
      .transform(token => (token && token.length <= 200 ? token : undefined))
      .meta({ description: 'Token of the invitation to accept; a longer one than 200 characters is ignored' }),
  }),
  sends: ['Location', 'Set-Cookie'],
  problems: ['rate-limit-exceeded'], // shown by the login page, as every problem
  async handle(request, deps) {
    const { query, header, cookie, clientIp, limitIssue } = request;
    if (!isSameOrigin(header('sec-fetch-site'), header('origin'), deps.config.BASE_URL))
      return reply({ headers: { Location: loginPage() } });
    await limitIssue('oidc-login-ip', clientIp());
    return countRefusals(request, deps, async () => {
      const purpose = { returnTo: query.return_to, invitation: query.invitation };
      const { url, carried } = await toOidc(deps).begin(purpose, cookie(OIDC_COOKIE), deps.now());
      const begun = setCookie(OIDC_COOKIE, carried, OIDC_TIMEOUT_SECONDS, deps.config);
      return reply({ headers: { Location: url, 'Set-Cookie': begun } });
    });
  },
});

const sentByProvider = (name: string) =>
  z
    .string()
    .optional()
    .meta({ description: `\`${name}\` of the identity provider's redirect` });

export const finishOidcLogin = operation({
  ...shared,
  id: 'finishOidcLogin',
  path: OIDC_CALLBACK_PATH,
  credentials: [],
  summary: 'Complete a login through the identity provider',
  description:
    "For browsers. Accounts are identified by the provider's subject. A new person needs an invitation to an address that the provider vouches for (`OIDC_TRUST_EMAIL`). An existing account is linked by one login with its password (`link-required`) and keeps its password and authenticator. Unknown parameters are ignored. On any error, the browser is redirected to the login page with the problem's code in `error`.",
  query: z.object({
    code: sentByProvider('code'),
    state: sentByProvider('state'),
    iss: sentByProvider('iss'),
    error: sentByProvider('error'),
    error_description: sentByProvider('error_description'),
  }),
  sends: ['Location', 'Set-Cookie'],
  problems: ['rate-limit-exceeded'], // shown by the login page, as every problem
  async handle(request, deps) {
    await request.limitIssue('oidc-callback-ip', request.clientIp());
    return countRefusals(request, deps, async () => {
      const sent = Object.fromEntries(Object.entries(request.query).filter(([, value]) => value !== undefined));
      const { subject, loginState, carried } = await toOidc(deps).finish(
        sent as Record<string, string>,
        request.cookie(OIDC_COOKIE),
        deps.now(),
      );
      const cookie = await enterBySubject(subject, loginState, request, deps);
      deps.metrics.logins.inc({ method: 'oidc', outcome: 'ok' });
      const others =
        carried === undefined
          ? clearCookie(OIDC_COOKIE, deps.config)
          : setCookie(OIDC_COOKIE, carried, OIDC_TIMEOUT_SECONDS, deps.config);
      return reply({ headers: { Location: loginState.returnTo, 'Set-Cookie': [others, cookie] } });
    });
  },
});

/** Runs a step of a login. A failure is counted; a refusal is logged with its cause, and redirects to the login page. */
async function countRefusals(
  { requestId }: Pick<UnreadRequest<unknown>, 'requestId'>,
  { log, metrics, config }: ApiDeps,
  act: () => Promise<OperationReply>,
): Promise<OperationReply> {
  try {
    return await act();
  } catch (error) {
    metrics.logins.inc({ method: 'oidc', outcome: error instanceof Problem ? error.code : 'internal-error' });
    if (!(error instanceof Problem)) throw error;
    const { code } = error;
    log.warn(
      { request_id: requestId, code, reason: describeFault(error) },
      'login through the identity provider refused',
    );
    const link =
      error instanceof LinkRequired ? [setCookie(LINK_COOKIE, error.carried, OIDC_TIMEOUT_SECONDS, config)] : [];
    return reply({ headers: { Location: loginPage(code), 'Set-Cookie': link } });
  }
}

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
  const { storage, now } = deps;
  const invitation = token === undefined ? undefined : await findInvitation(storage, sha256(token), now());
  const known = await findAccountOfSubject(storage, subject.issuer, subject.subject);
  const email = invitation || known === undefined ? requireEmail(subject) : ''; // a linked account keeps its address
  if (invitation && invitation.email !== email)
    throw new Problem('email-mismatch', 'The invitation is for another address than the one of the identity provider.');
  if (known === undefined) await refuseUnlinked(subject, email, deps);
  if (known === undefined && !invitation)
    throw new Problem('not-invited', 'No account has this address. Ask for an invitation.');
  const person = { id: known ?? newUuid(), email, name: subject.name, password_hash: null };
  const started = beginSession(deviceOf(request), deps);
  await withAuditEntry(invitation ? 'member.joined' : 'session.started', request, deps, async transactionDeps => {
    const own = transactionDeps.storage.forAccount(person.id);
    const joiner = { ...person, exists: known !== undefined };
    if (invitation) await acceptInvitation(transactionDeps.storage, invitation, joiner, now());
    if (known === undefined) await linkSubject(own, { ...subject, email }, now());
    await startSession(own, started.row, now());
    return { actor: { accountId: person.id, tenantId: invitation?.tenant_id }, result: undefined };
  });
  return started.cookie;
}

const EMAIL_REFUSALS = {
  'email-missing': 'The identity provider sent no valid address in OIDC_EMAIL_CLAIM.',
  'email-unverified': 'The identity provider does not state that the address is verified, or states that it is not.',
};

/** Returns the address that the provider vouches for. Throws `email-missing` or `email-unverified`, with the claims' names. */
function requireEmail({ email, claims }: Subject): string {
  if ('email' in email) return email.email;
  throw new Problem(email.refusal, `${EMAIL_REFUSALS[email.refusal]} Claims received: ${claims.join(', ')}.`);
}

/** Throws `link-required` for a subject whose verified address has an account. */
async function refuseUnlinked(subject: Subject, email: string, { storage, keychain, now }: ApiDeps): Promise<void> {
  if (await findLogin(storage, email)) throw new LinkRequired(sealLink(subject, email, keychain, now()));
}

/** The operations of logins through the identity provider. */
export const subjectRoutes = [beginOidcLogin, finishOidcLogin];
