import type { Configuration } from 'openid-client';
import { z } from 'zod';
import { Problem } from '../../domain/problem.ts';
import type { Config } from '../../platform/config.ts';
import type { Keychain } from '../../platform/secrets.ts';

export const OIDC_LOGIN_PATH = '/v1/oidc/login';
export const OIDC_CALLBACK_PATH = '/v1/oidc/callback';

/** For how long somebody may stay at the identity provider. */
export const OIDC_WITHIN_SECONDS = 600;

/** What must come back as it went out, and where to go then; encrypted in a cookie, so that it is kept nowhere. */
const Journey = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  invitation: z.string().optional(),
  endsAt: z.number(),
});
export type Journey = z.infer<typeof Journey>;

/** A subject that waits for the owner of its address to log in by password; encrypted in a cookie. */
const PendingLink = z.object({ issuer: z.string(), subject: z.string(), email: z.string(), endsAt: z.number() });
export type PendingLink = z.infer<typeof PendingLink>;

/** Whom the identity provider vouches for. */
export interface Subject {
  issuer: string;
  subject: string;
  /** The address, where the provider says that it has verified it. */
  email: string | undefined;
  name: string;
}

/** Logins by the identity provider of `OIDC_ISSUER` (OpenID Connect: code flow with PKCE, state and nonce). */
export interface OidcLogin {
  /** Where the browser is sent, and what it carries meanwhile. */
  begin(returnTo: string, invitation: string | undefined, now: Date): Promise<{ url: string; carried: string }>;
  /** Who came back, by the callback's query. Throws 401 `login-failed` for whatever does not fit together. */
  finish(query: string, carried: string | undefined, now: Date): Promise<{ subject: Subject; journey: Journey }>;
}

const CONTEXT = 'oidc';
const LINK_CONTEXT = 'oidc-link';

/** What a browser carries from the provider to the login by password that links the account. */
export function sealLink({ issuer, subject }: Subject, email: string, keychain: Keychain, now: Date): string {
  const link: PendingLink = { issuer, subject, email, endsAt: now.getTime() + OIDC_WITHIN_SECONDS * 1000 };
  return keychain.seal(JSON.stringify(link), LINK_CONTEXT).toString('base64url');
}

/** The subject that a browser brought from the provider for this address; `undefined` when there is none, or not any more. */
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

  /** The provider's own description, read for the first login; a provider that was away is asked again. */
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
      const journey: Journey = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
        returnTo,
        ...(invitation === undefined ? {} : { invitation }),
        endsAt: now.getTime() + OIDC_WITHIN_SECONDS * 1000,
      };
      const url = client.buildAuthorizationUrl(await provider(), {
        redirect_uri: callback,
        scope: 'openid email profile',
        state: journey.state,
        nonce: journey.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(journey.verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, carried: keychain.seal(JSON.stringify(journey), CONTEXT).toString('base64url') };
    },
    async finish(query, carried, now) {
      const journey = openCarried(Journey, carried, CONTEXT, keychain);
      if (!journey || journey.endsAt <= now.getTime())
        throw failed('The login was not started in this browser, or has expired.');
      const client = await import('openid-client');
      const configuration = await provider();
      try {
        const tokens = await client.authorizationCodeGrant(configuration, new URL(`${callback}?${query}`), {
          pkceCodeVerifier: journey.verifier,
          expectedState: journey.state,
          expectedNonce: journey.nonce,
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
          email: isVerified ? (about.email as string).toLowerCase() : undefined,
          name: typeof about.name === 'string' ? about.name.slice(0, 120).toWellFormed() : '',
        };
        return { subject, journey };
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

/** What the browser carried; `undefined` when it is not ours. */
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
