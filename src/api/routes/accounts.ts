import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { HOUR_MS } from '../../domain/durations.ts';
import { newUuid } from '../../domain/ids.ts';
import { linkTo } from '../../domain/links.ts';
import { linkNotValid, Problem } from '../../domain/problem.ts';
import {
  Account,
  AccountPatch,
  PasswordChange,
  PasswordProof,
  PasswordReset,
  PasswordResetRequest,
  RECOVERY_CODES,
  RESET_LINK_HOURS,
  RecoveryCodes,
  Setup,
  TotpConfirmation,
  TotpEnrolment,
} from '../../domain/team/accounts.ts';
import { NO_TENANT_ID } from '../../domain/team/mails.ts';
import { LoggedIn } from '../../domain/team/sessions.ts';
import { sendsMails } from '../../platform/mail.ts';
import { hashPassword, verifyPassword } from '../../platform/passwords.ts';
import { randomSecret, sha256 } from '../../platform/secrets.ts';
import { matchTotp, newTotpSecret, toBase32, totpUri } from '../../platform/totp.ts';
import {
  changePassword as changeAccountPassword,
  findLogin,
  insertLink,
  type LoginRow,
  removeAuthenticator,
  resetPassword as resetAccountPassword,
  updateAccount,
} from '../../storage/team/accounts.ts';
import { insertMail } from '../../storage/team/mails.ts';
import { insertFirstOwner } from '../../storage/team/members.ts';
import type { PersonCaller } from '../caller.ts';
import { DEVICE_COOKIE, rememberDevice } from '../credentials/known-devices.ts';
import { attemptsOf, recoveryHash, refuseWhilePasswordsQueued, totpSecretOf } from '../credentials/login.ts';
import { beginSession } from '../credentials/sessions.ts';
import type { ApiDeps } from '../deps.ts';
import { operation, reply, type UnreadRequest } from '../operation.ts';
import { withAuditEntry } from '../pipeline/audit-trail.ts';
import { clearFailedLogins } from '../pipeline/limit.ts';
import { deviceOf, readAccount, replyLoggedIn } from '../pipeline/logged-in.ts';

const shared = { tag: 'Account' } as const;

export const setUp = operation({
  ...shared,
  id: 'setUp',
  method: 'post',
  path: '/v1/setup',
  credentials: [],
  summary: 'Create the owner and the first tenant, and log in',
  description:
    'Requires the token from the setup link printed by `npm start` or `parley setup create`. Works once, and only while no tenant has an owner.',
  sameOrigin: true,
  body: Setup,
  status: 201,
  sends: ['Set-Cookie', 'Location'],
  response: LoggedIn,
  problems: ['link-not-valid', 'member-exists', 'cross-site-request', 'rate-limit-exceeded', 'database-unavailable'],
  handle: (request, deps) =>
    withAuditEntry('tenant.created', request, deps, async transactionDeps => {
      const { storage, now } = transactionDeps;
      const { token, tenant_name, name, email, password } = request.body;
      await request.limitIssue('setup-ip', request.clientIp());
      refuseWhilePasswordsQueued();
      const owner = { id: newUuid(), email, name, password_hash: await hashPassword(password) };
      const started = beginSession(deviceOf(request), transactionDeps);
      const tenant = { id: newUuid(), name: tenant_name };
      await insertFirstOwner(storage, sha256(token), { owner, tenant, session: started.row }, now());
      const result = await replyLoggedIn(storage, owner.id, started);
      return {
        actor: { accountId: owner.id },
        result: { ...result, headers: { ...result.headers, Location: '/v1/me' } },
      };
    }),
});

export const patchMe = operation({
  ...shared,
  id: 'patchMe',
  method: 'patch',
  path: '/v1/me',
  credentials: ['person'],
  summary: 'Change your name',
  description: 'The name is shown to users as the author of your messages. Messages written before keep the old name.',
  audit: 'account.updated',
  body: AccountPatch,
  status: 200,
  response: Account,
  async handle({ caller, body }, { storage }) {
    await updateAccount(storage.forAccount(caller.accountId), body);
    const unchanged = body.name === caller.name;
    return reply({ body: await readAccount(storage, caller.accountId), unchanged });
  },
});

type ProofDeps = Pick<ApiDeps, 'storage'>;

/** Returns the account of a person who has proven it again by the password. 10 attempts per session in 15 minutes. */
async function provenAgain(
  { email, sessionId }: PersonCaller,
  password: string,
  { limitIssue }: Pick<UnreadRequest<unknown>, 'limitIssue'>,
  { storage }: ProofDeps,
): Promise<LoginRow> {
  await limitIssue('login', attemptsOf(email, sessionId));
  refuseWhilePasswordsQueued();
  const account = await findLogin(storage, email);
  if (!account || !(await verifyPassword(password, account.password_hash)))
    throw new Problem('login-failed', 'The password is wrong.');
  return account;
}

export const changePassword = operation({
  ...shared,
  id: 'changePassword',
  method: 'put',
  path: '/v1/me/password',
  credentials: ['person'],
  summary: 'Change your password and end all other sessions',
  description: 'Requires the current password. 10 attempts per session are allowed in 15 minutes.',
  audit: 'password.changed',
  body: PasswordChange,
  status: 204,
  problems: ['login-failed', 'service-overloaded'],
  async handle(request, { storage }) {
    const { caller, body } = request;
    await provenAgain(caller, body.current_password, request, { storage });
    const hash = await hashPassword(body.new_password);
    await changeAccountPassword(storage.forAccount(caller.accountId), hash, caller.sessionId);
  },
});

export const requestPasswordReset = operation({
  ...shared,
  id: 'requestPasswordReset',
  method: 'post',
  path: '/v1/password-resets',
  credentials: [],
  summary: 'Request a password reset by e-mail',
  description:
    'The response is the same whether or not the address has an account. If no mail server is configured, `parley password-reset create` prints a link.',
  sameOrigin: true,
  body: PasswordResetRequest,
  status: 202,
  response: z.object({}).meta({ id: 'PasswordResetRequested' }),
  problems: ['cross-site-request', 'rate-limit-exceeded', 'database-unavailable'],
  async handle({ body, clientIp, limitIssue }, deps) {
    await limitIssue('reset-ip', clientIp());
    await limitIssue('reset', body.email);
    void mailResetLink(body.email, deps).catch(error =>
      deps.log.error({ reason: (error as Error).message }, 'could not queue the password reset e-mail'),
    );
    return {};
  },
});

/** Not awaited: its duration would reveal whether the address has an account. */
async function mailResetLink(email: string, { storage, keychain, config, now }: ApiDeps): Promise<void> {
  if (!sendsMails(config) || !(await findLogin(storage, email))) return;
  const at = now();
  const token = randomSecret();
  const expires_at = new Date(at.getTime() + RESET_LINK_HOURS * HOUR_MS);
  const letter = {
    subject: 'Reset your password',
    text: `A password reset was requested for your account at ${config.BASE_URL}.\n\nChoose a new password within an hour:\n${linkTo(config.BASE_URL, 'reset', token)}\n\nIf you did not request this, you can ignore this email.\n`,
  };
  const mail = { tenantId: NO_TENANT_ID, kind: 'password-reset', to: email, expiresAt: expires_at, ...letter } as const;
  await storage.forTenant(NO_TENANT_ID).transaction(async tx => {
    await insertLink(tx, { purpose: 'reset', token_hash: sha256(token), email, expires_at, mailed: true });
    await insertMail(tx, keychain, mail, at);
  });
}

export const resetPassword = operation({
  ...shared,
  id: 'resetPassword',
  method: 'post',
  path: '/v1/password-resets/{token}',
  credentials: [],
  summary: 'Set a new password with a reset link; ends all sessions',
  description:
    'The link works once and for an hour. All sessions of the account end. An authenticator stays. Failed logins no longer count against the account. A mailed link proves the address of an account without an authenticator.',
  sameOrigin: true,
  params: z.object({
    token: z.string().max(200).meta({ description: 'The token of the reset link', example: 'qH3vYc8kTz5mWn1r' }),
  }),
  body: PasswordReset,
  status: 204,
  sends: ['Set-Cookie'],
  problems: ['link-not-valid', 'cross-site-request', 'rate-limit-exceeded', 'database-unavailable'],
  handle: (request, deps) =>
    withAuditEntry('password.reset', request, deps, async ({ storage, now }) => {
      await request.limitIssue('reset-ip', request.clientIp());
      refuseWhilePasswordsQueued();
      const hash = await hashPassword(request.body.password);
      const accountId = await resetAccountPassword(storage, sha256(request.params.token), hash, now());
      if (accountId === undefined) throw linkNotValid();
      return { actor: { accountId }, result: await replyReset(accountId, request, { ...deps, storage }) };
    }),
});

/**
 * Returns the reply to a password reset. It removes the failed logins that were counted, and makes the browser known, so that
 * its owner can log in although others keep guessing.
 */
async function replyReset(
  accountId: string,
  { cookie, clientIp }: Pick<UnreadRequest<unknown>, 'cookie' | 'clientIp'>,
  deps: ApiDeps,
) {
  const { email } = await readAccount(deps.storage, accountId);
  await clearFailedLogins(email, clientIp(), deps);
  const device = rememberDevice(email, newUuid(), cookie(DEVICE_COOKIE), deps);
  return reply({ status: 204, headers: device === undefined ? {} : { 'Set-Cookie': device } });
}

export const enrolTotp = operation({
  ...shared,
  id: 'enrolTotp',
  method: 'post',
  path: '/v1/me/totp',
  credentials: ['person'],
  summary: 'Enrol an authenticator; it becomes active once confirmed',
  description:
    'The reply contains the secret for the authenticator app. Logins require a code only after `confirmTotp`.',
  audit: 'totp.enrolled',
  body: PasswordProof,
  status: 200,
  response: TotpEnrolment,
  problems: ['login-failed', 'totp-active'],
  async handle(request, { storage, keychain }) {
    const { caller, body } = request;
    const account = await provenAgain(caller, body.password, request, { storage });
    if (account.totp_confirmed_at !== null) throw new Problem('totp-active', 'An authenticator is already active.');
    const secret = newTotpSecret();
    await updateAccount(storage.forAccount(account.id), { totp_sealed: keychain.seal(secret, account.id) });
    return { secret, uri: totpUri(secret, account.email) };
  },
});

/** Returns a new recovery code: 50 random bits in two groups. */
const newRecoveryCode = (): string => {
  const code = toBase32(randomBytes(7)).slice(0, 10).toLowerCase();
  return `${code.slice(0, 5)}-${code.slice(5)}`;
};

export const confirmTotp = operation({
  ...shared,
  id: 'confirmTotp',
  method: 'post',
  path: '/v1/me/totp/confirm',
  credentials: ['person'],
  summary: 'Confirm the authenticator with a code; logins then require one',
  description: 'The response contains ten recovery codes, which are shown only once.',
  audit: 'totp.enabled',
  body: TotpConfirmation,
  status: 200,
  response: RecoveryCodes,
  problems: ['login-failed', 'totp-active', 'totp-inactive'],
  async handle({ caller, body, limitIssue }, { storage, keychain, now }) {
    await limitIssue('login', attemptsOf(caller.email, caller.sessionId));
    const account = await findLogin(storage, caller.email);
    if (!account) throw new Problem('totp-inactive', 'No authenticator is enrolled.');
    if (account.totp_confirmed_at !== null) throw new Problem('totp-active', 'An authenticator is already active.');
    const step = matchTotp(totpSecretOf(account, keychain), body.totp.replaceAll(/\s/g, ''), now());
    if (step === undefined) throw new Problem('login-failed', 'The code is not valid for the enrolled authenticator.');
    const recovery_codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
    await updateAccount(storage.forAccount(account.id), {
      totp_confirmed_at: now(),
      totp_last_step: step,
      recovery_hashes: recovery_codes.map(code => recoveryHash(account.id, code.replace('-', ''), keychain)),
    });
    return { recovery_codes };
  },
});

export const removeTotp = operation({
  ...shared,
  id: 'removeTotp',
  method: 'post',
  path: '/v1/me/totp/remove',
  credentials: ['person'],
  summary: 'Remove the authenticator',
  description: 'Logins no longer require a code. Requires the password; the recovery codes become invalid.',
  audit: 'totp.removed',
  body: PasswordProof,
  status: 204,
  problems: ['login-failed'],
  async handle(request, { storage }) {
    const account = await provenAgain(request.caller, request.body.password, request, { storage });
    await removeAuthenticator(storage.forAccount(account.id));
  },
});

/** Every operation on one's own account. */
export const accountRoutes = [
  setUp,
  patchMe,
  changePassword,
  requestPasswordReset,
  resetPassword,
  enrolTotp,
  confirmTotp,
  removeTotp,
];
