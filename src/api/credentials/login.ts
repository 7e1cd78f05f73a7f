import { Problem } from '../../domain/problem.ts';
import { passwordsWaiting, verifyPassword } from '../../platform/passwords.ts';
import type { Keychain } from '../../platform/secrets.ts';
import { matchTotp } from '../../platform/totp.ts';
import { findLogin, type LoginRow, takeRecoveryCode, takeTotpStep } from '../../storage/accounts.ts';
import type { CredentialDeps } from './deps.ts';
import { DEVICE_COOKIE, findKnownDevice } from './known-devices.ts';

/** From how many waiting passwords on further ones are turned away: about three seconds of work. */
const MAX_WAITING = 50;

type LoginDeps = Pick<CredentialDeps, 'storage' | 'keychain' | 'metrics' | 'now'>;

/** The part of a request that identifies and counts a login attempt. */
interface Attempt {
  limitIssue(scope: 'login' | 'login-ip', key: string): Promise<void>;
  clientIp(): string;
  cookie(name: string): string | undefined;
}

/** What somebody says to prove who they are. */
export interface Proof {
  email: string;
  password: string;
  totp?: string | undefined;
}

/** Throws 503 while more passwords wait than can be computed soon. */
export function refuseWhilePasswordsWait(): void {
  if (passwordsWaiting() < MAX_WAITING) return;
  throw new Problem('service-overloaded', 'Too many logins are in progress.', { retryAfterSeconds: 2 });
}

/**
 * The account of an address whose owner has proven it by password and, where one is set up, by the authenticator.
 *
 * Counted for each e-mail address, existing or not: 10 in 15 minutes; and for where they come from, so that nobody tries
 * one password with everybody: 100. A browser that is known for the address has a count of its own, which no stranger can
 * use up. None while they can't be counted. An unknown address takes as long as a wrong password, and is told the same.
 */
export async function verifyLogin(proof: Proof, attempt: Attempt, deps: LoginDeps): Promise<LoginRow> {
  await countAttempt(proof.email, attempt, deps);
  try {
    const account = await verifyProof(proof, deps);
    deps.metrics.authAttempts.inc({ method: 'session', result: 'ok' });
    return account;
  } catch (error) {
    const result = error instanceof Problem ? error.code : 'internal-error';
    deps.metrics.authAttempts.inc({ method: 'session', result });
    throw error;
  }
}

async function countAttempt(email: string, { limitIssue, clientIp, cookie }: Attempt, deps: LoginDeps): Promise<void> {
  const device = findKnownDevice(email, cookie(DEVICE_COOKIE), deps);
  if (device !== undefined) return limitIssue('login', attemptsOf(email, device));
  await limitIssue('login-ip', clientIp());
  await limitIssue('login', email);
}

/** What the attempts of a known browser, or of a session, are counted under. */
export const attemptsOf = (email: string, device: string): string => `${email}\n${device}`;

async function verifyProof(proof: Proof, deps: LoginDeps): Promise<LoginRow> {
  refuseWhilePasswordsWait();
  const account = await findLogin(deps.storage, proof.email);
  const isRight = await verifyPassword(proof.password, account?.password_hash);
  if (!account || !isRight) throw loginFailed();
  if (account.totp_confirmed_at !== null) await verifyCode(account, proof.totp, deps);
  return account;
}

const loginFailed = () => new Problem('login-failed', 'The e-mail address, password or code is wrong.');

/** Takes a code of the authenticator, or a recovery code, for good. */
async function verifyCode(account: LoginRow, sent: string | undefined, deps: LoginDeps): Promise<void> {
  if (sent === undefined || sent === '')
    throw new Problem('totp-required', 'The password is correct. Send an authenticator code in `totp`.');
  const own = deps.storage.forAccount(account.id);
  const code = sent.replaceAll(/[\s-]/g, '').toLowerCase();
  const step = matchTotp(totpSecretOf(account, deps.keychain), code, deps.now());
  const isTaken =
    step !== undefined
      ? await takeTotpStep(own, step)
      : await takeRecoveryCode(own, recoveryHash(account.id, code, deps.keychain));
  if (!isTaken) throw loginFailed();
}

/** The secret of an account's authenticator, confirmed or not. */
export function totpSecretOf(account: LoginRow, keychain: Keychain): string {
  if (account.totp_sealed === null) throw new Problem('totp-inactive', 'No authenticator is enrolled.');
  return keychain.unseal(account.totp_sealed, account.id);
}

/** A recovery code as it is kept: bound to the account and to a lasting key, so that a dump is not enough to guess it. */
export const recoveryHash = (accountId: string, code: string, keychain: Keychain): string =>
  keychain.mac('recovery-codes', accountId, code).toString('base64url');
