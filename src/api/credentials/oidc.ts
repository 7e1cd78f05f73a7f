import type { Configuration } from 'openid-client';
import { z } from 'zod';
import { Email } from '../../domain/accounts.ts';
import { Problem } from '../../domain/problem.ts';
import type { Config } from '../../platform/config.ts';
import type { Keychain } from '../../platform/secrets.ts';

export const OIDC_LOGIN_PATH = '/v1/oidc/login';
export const OIDC_CALLBACK_PATH = '/v1/oidc/callback';

/** Time limit for the login at the identity provider. */
export const OIDC_TIMEOUT_SECONDS = 600;

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

/** The person confirmed by the identity provider. */
export interface Subject {
  issuer: string;
  subject: string;
  /** The address, if the provider has verified it, and it is one that an account can have. */
  email: string | undefined;
  name: string;
}

/** Logins by the identity provider of `OIDC_ISSUER` (OpenID Connect: code flow with PKCE, state and nonce). */
export interface OidcLogin {
  /** Returns the URL to redirect to, and the encrypted state for the cookie. */
  begin(returnTo: string, invitation: string | undefined, now: Date): Promise<{ url: string; carried: string }>;
  /** Returns the subject of a callback. Throws 401 `login-failed` when query and state do not match. */
  finish(query: string, carried: string | undefined, now: Date): Promise<{ subject: Subject; loginState: LoginState }>;
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

export function createOidcLogin(config: Config, keychain: Keychain): OidcLogin | undefined {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, BASE_URL } = config;
  if (!OIDC_ISSUER || !OIDC_CLIENT_ID || !OIDC_CLIENT_SECRET) return undefined;
  const callback = `${BASE_URL}${OIDC_CALLBACK_PATH}`;
  let discovered: Promise<Configuration> | undefined;

  /** The provider's metadata, read at the first login. Retried after a failure. */
  const provider = async (): Promise<Configuration> => {
    discovered ??= discover(OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET);
    try {
      return await discovered;
    } catch (cause) {
      discovered = undefined;
      throw new Problem('identity-provider-unavailable', 'The identity provider did not return a valid response.', {
        retryAfterSeconds: 10,
        cause,
      });
    }
  };

  return {
    async begin(returnTo, invitation, now) {
      const client = await import('openid-client');
      const loginState: LoginState = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
        returnTo,
        ...(invitation === undefined ? {} : { invitation }),
        endsAt: now.getTime() + OIDC_TIMEOUT_SECONDS * 1000,
      };
      const url = client.buildAuthorizationUrl(await provider(), {
        redirect_uri: callback,
        scope: 'openid email profile',
        state: loginState.state,
        nonce: loginState.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(loginState.verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, carried: keychain.seal(JSON.stringify(loginState), CONTEXT).toString('base64url') };
    },
    async finish(query, carried, now) {
      const loginState = openCarried(LoginState, carried, CONTEXT, keychain);
      if (!loginState || loginState.endsAt <= now.getTime())
        throw failed('The login was not started in this browser, or has expired.');
      const client = await import('openid-client');
      const configuration = await provider();
      try {
        const tokens = await client.authorizationCodeGrant(configuration, new URL(`${callback}?${query}`), {
          pkceCodeVerifier: loginState.verifier,
          expectedState: loginState.state,
          expectedNonce: loginState.nonce,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (!claims) throw new Error('the response has no ID token');
        const about = claims.email
          ? claims
          : await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
        const isVerified = typeof about.email === 'string' && about.email_verified === true;
        const subject = {
          issuer: claims.iss,
          subject: claims.sub,
          email: isVerified ? Email.safeParse(about.email).data : undefined,
          name: typeof about.name === 'string' ? about.name.slice(0, 120).toWellFormed() : '',
        };
        return { subject, loginState };
      } catch (cause) {
        throw failed("The identity provider's response failed validation.", cause);
      }
    },
  };
}

const failed = (detail: string, cause?: unknown) => new Problem('login-failed', detail, { cause });

async function discover(issuer: string, clientId: string, secret: string): Promise<Configuration> {
  const client = await import('openid-client');
  const insecure = issuer.startsWith('http:') ? { execute: [client.allowInsecureRequests] } : {};
  return client.discovery(new URL(issuer), clientId, secret, undefined, { ...insecure, timeout: 10 });
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
