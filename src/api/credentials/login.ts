import { Problem } from '../../domain/problem.ts';
import { networkOf } from '../../platform/addresses.ts';
import { passwordsWaiting, verifyPassword } from '../../platform/passwords.ts';
import type { Keychain } from '../../platform/secrets.ts';
import { matchTotp } from '../../platform/totp.ts';
import { findLogin, type LoginRow, redeemRecoveryCode, redeemTotpStep } from '../../storage/team/accounts.ts';
import type { CredentialDeps } from './deps.ts';
import { DEVICE_COOKIE, findKnownDevice } from './known-devices.ts';

/** With this many waiting passwords, further ones are refused: about three seconds of work. */
const MAX_WAITING = 50;

const LOGIN_FAILED = 'login-failed';

type LoginDeps = Pick<CredentialDeps, 'storage' | 'keychain' | 'metrics' | 'now'>;

/** The part of a request that identifies and counts a login attempt. */
interface Attempt {
  limitIssue(scope: 'login' | 'login-account' | 'login-ip', key: string | null): Promise<() => Promise<void>>;
  clientIp(): string | null;
  cookie(name: string): string | undefined;
}

/** The credentials of a login. */
export interface Proof {
  email: string;
  password: string;
  totp?: string | undefined;
}

/** Throws 503 while too many passwords are waiting to be hashed. */
export function refuseWhilePasswordsQueued(): void {
  if (passwordsWaiting() < MAX_WAITING) return;
  throw new Problem('service-overloaded', 'Too many logins are in progress.', { retryAfterSeconds: 2 });
}

/**
 * Returns the account whose owner has proven it by password and, if set up, by the authenticator.
 *
 * Failures are counted per e-mail address, existing or not, and origin (10 in 15 minutes), per e-mail address (200), and per
 * origin, against trying one password with many accounts (100). A browser known for the address has a separate count, which
 * others cannot use up. Throws when attempts cannot be counted. An unknown address takes as long as a wrong password, with
 * the same error.
 */
export async function verifyLogin(proof: Proof, attempt: Attempt, deps: LoginDeps): Promise<LoginRow> {
  const undo = await countAttempt(proof.email, attempt, deps);
  let account: LoginRow;
  try {
    account = await verifyProof(proof, deps);
  } catch (error) {
    const outcome = error instanceof Problem ? error.code : 'internal-error';
    deps.metrics.logins.inc({ method: 'password', outcome });
    if (outcome !== LOGIN_FAILED) await undo();
    throw error;
  }
  await undo();
  deps.metrics.logins.inc({ method: 'password', outcome: 'ok' });
  return account;
}

/**
 * Counts an attempt before it is decided, so that concurrent guesses cannot exceed a limit. Returns the function that
 * subtracts it again, since only failures count.
 *
 * The account's own count comes last: one origin adds to it only up to its own limit.
 */
async function countAttempt(
  email: string,
  { limitIssue, clientIp, cookie }: Attempt,
  deps: LoginDeps,
): Promise<() => Promise<unknown>> {
  const device = findKnownDevice(email, cookie(DEVICE_COOKIE), deps);
  if (device !== undefined) return limitIssue('login', attemptsOf(email, device));
  const undos = [
    await limitIssue('login-ip', clientIp()),
    await limitIssue('login', attemptsOf(email, networkOf(clientIp()))),
    await limitIssue('login-account', email),
  ];
  return () => Promise.all(undos.map(undo => undo()));
}

/** The key under which attempts on an account from a network address, a known browser or a session are counted. */
export const attemptsOf = (email: string, origin: string): string => `${email}\n${origin}`;

async function verifyProof(proof: Proof, deps: LoginDeps): Promise<LoginRow> {
  refuseWhilePasswordsQueued();
  const account = await findLogin(deps.storage, proof.email);
  const isRight = await verifyPassword(proof.password, account?.password_hash);
  if (!account || !isRight) throw loginFailed();
  if (account.totp_confirmed_at !== null) await verifyCode(account, proof.totp, deps);
  return account;
}

const loginFailed = () => new Problem(LOGIN_FAILED, 'The e-mail address, password or code is wrong.');

/** Uses up a code of the authenticator, or a recovery code. */
async function verifyCode(account: LoginRow, sent: string | undefined, deps: LoginDeps): Promise<void> {
  if (sent === undefined || sent === '')
    throw new Problem('totp-required', 'The password is correct. Send an authenticator code in `totp`.');
  const own = deps.storage.forAccount(account.id);
  const code = sent.replaceAll(/[\s-]/g, '').toLowerCase();
  const step = matchTotp(totpSecretOf(account, deps.keychain), code, deps.now());
  const isTaken =
    step !== undefined
      ? await redeemTotpStep(own, step)
      : await redeemRecoveryCode(own, recoveryHash(account.id, code, deps.keychain));
  if (!isTaken) throw loginFailed();
}

/** Returns the secret of an account's authenticator, confirmed or not. */
export function totpSecretOf(account: LoginRow, keychain: Keychain): string {
  if (account.totp_sealed === null) throw new Problem('totp-inactive', 'No authenticator is enrolled.');
  return keychain.unseal(account.totp_sealed, account.id);
}

/**
 * The stored hash of a recovery code, with the account and a derived key, so that a database dump alone does not allow
 * guessing.
 */
export const recoveryHash = (accountId: string, code: string, keychain: Keychain): string =>
  keychain.mac('recovery-codes', accountId, code).toString('base64url');
