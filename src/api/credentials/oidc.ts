import { z } from 'zod';
import { Problem } from '../../domain/problem.ts';
import type { Config } from '../../platform/config.ts';
import type { Log } from '../../platform/log.ts';
import type { Keychain } from '../../platform/secrets.ts';
import { OIDC_CALLBACK_PATH } from '../http/browser-addresses.ts';
import { createIdentityProvider, type Subject } from './identity-provider.ts';

/** The cookie of a subject waiting to be linked, without its prefix. */
export const LINK_COOKIE = 'oidc_link';

/** Time limit for the login at the identity provider. */
export const OIDC_TIMEOUT_SECONDS = 600;

/** Logins that a browser can have begun at the same time, such as in several tabs. More would not fit into a cookie. */
const MAX_LOGINS = 3;

/** State that the callback must match, and the page to open afterwards. Stored only in an encrypted cookie. */
const LoginState = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  invitation: z.string().optional(),
  endsAt: z.number(),
});
export type LoginState = z.infer<typeof LoginState>;

/** A subject waiting for the owner of its address to log in by password. Stored only in an encrypted cookie. */
const PendingLink = z.object({ issuer: z.string(), subject: z.string(), email: z.string(), endsAt: z.number() });
export type PendingLink = z.infer<typeof PendingLink>;

/** The page to open after a login, and the invitation to accept. */
type Purpose = Pick<LoginState, 'returnTo' | 'invitation'>;

/** Logins by the identity provider of `OIDC_ISSUER` (OpenID Connect: code flow with PKCE, state and nonce). */
export interface OidcLogin {
  /** Returns the URL to redirect to, and the encrypted state for the cookie. `carried` is that of the browser's last login. */
  begin(purpose: Purpose, carried: string | undefined, now: Date): Promise<{ url: string; carried: string }>;
  /**
   * Returns the subject of a callback, and the state of the browser's other logins for the cookie, if there are any. Throws
   * `state-mismatch` when no begun login matches, or a problem of the provider.
   */
  finish(
    query: Record<string, string>,
    carried: string | undefined,
    now: Date,
  ): Promise<{ subject: Subject; loginState: LoginState; carried: string | undefined }>;
}

const CONTEXT = 'oidc';
const LINK_CONTEXT = 'oidc-link';

/** Returns the encrypted cookie value for linking the account at the next login by password. */
export function sealLink({ issuer, subject }: Subject, email: string, keychain: Keychain, now: Date): string {
  const link: PendingLink = { issuer, subject, email, endsAt: now.getTime() + OIDC_TIMEOUT_SECONDS * 1000 };
  return keychain.seal(JSON.stringify(link), LINK_CONTEXT).toString('base64url');
}

/** Returns the subject waiting to be linked to this address; `undefined` when there is none or it has expired. */
export function openLink(
  carried: string | undefined,
  email: string,
  keychain: Keychain,
  now: Date,
): PendingLink | undefined {
  const link = openCarried(PendingLink, carried, LINK_CONTEXT, keychain);
  return link && link.email === email && link.endsAt > now.getTime() ? link : undefined;
}

export function createOidcLogin(config: Config, keychain: Keychain, log: Log): OidcLogin | undefined {
  if (!config.OIDC_ISSUER) return undefined;
  const provider = createIdentityProvider(config, log);
  const callback = `${config.BASE_URL}${OIDC_CALLBACK_PATH}`;

  const begunLogins = (carried: string | undefined, now: Date): LoginState[] =>
    (openCarried(z.array(LoginState), carried, CONTEXT, keychain) ?? []).filter(({ endsAt }) => endsAt > now.getTime());
  const sealLogins = (logins: LoginState[]): string =>
    keychain.seal(JSON.stringify(logins), CONTEXT).toString('base64url');

  return {
    async begin(purpose, carried, now) {
      const { loginState, parameters } = await newLogin(purpose, now);
      const url = await provider.authorizationUrl({ ...parameters, redirect_uri: callback }, now);
      const logins = [...begunLogins(carried, now), loginState].slice(-MAX_LOGINS);
      return { url, carried: sealLogins(logins) };
    },
    async finish(query, carried, now) {
      const logins = begunLogins(carried, now);
      const loginState = logins.find(({ state }) => state === query.state);
      if (!loginState)
        throw new Problem('state-mismatch', 'The login was not begun in this browser, or more than ten minutes ago.');
      const subject = await provider.identify(new URL(`${callback}?${new URLSearchParams(query)}`), loginState);
      const others = logins.filter(login => login !== loginState);
      return { subject, loginState, carried: others.length > 0 ? sealLogins(others) : undefined };
    },
  };
}

/** Returns the state of a new login, and the parameters with which the browser is sent to the provider. */
async function newLogin(purpose: Purpose, now: Date) {
  const client = await import('openid-client');
  const loginState: LoginState = {
    state: client.randomState(),
    nonce: client.randomNonce(),
    verifier: client.randomPKCECodeVerifier(),
    ...purpose,
    endsAt: now.getTime() + OIDC_TIMEOUT_SECONDS * 1000,
  };
  const parameters = {
    scope: 'openid email profile',
    state: loginState.state,
    nonce: loginState.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(loginState.verifier),
    code_challenge_method: 'S256',
  };
  return { loginState, parameters };
}

/** Decrypts a cookie value; `undefined` when it is invalid. */
function openCarried<Carried>(
  schema: z.ZodType<Carried>,
  carried: string | undefined,
  context: string,
  keychain: Keychain,
): Carried | undefined {
  if (carried === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(keychain.unseal(Buffer.from(carried, 'base64url'), context)));
  } catch {
    return undefined; // made up, or encrypted with another SECRET_KEY
  }
}
