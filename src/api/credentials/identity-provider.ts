import type { ClientAuth, Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import { Problem } from '../../domain/problem.ts';
import { type Claims, lacksEmail, readEmail, readName, type VouchedEmail } from '../../domain/team/subjects.ts';
import type { Config } from '../../platform/config.ts';
import type { Log } from '../../platform/log.ts';

const TIMEOUT_SECONDS = 10;

/** How long the provider's metadata is used: a provider that is upgraded can get other endpoints and signing algorithms. */
const METADATA_MS = 10 * 60_000;

/** The settings of an identity provider. */
export type ProviderSettings = Pick<
  Config,
  'OIDC_ISSUER' | 'OIDC_CLIENT_ID' | 'OIDC_CLIENT_SECRET' | 'OIDC_TRUST_EMAIL' | 'OIDC_EMAIL_CLAIM'
>;

/** A person confirmed by the identity provider. */
export interface Subject {
  issuer: string;
  subject: string;
  name: string;
  email: VouchedEmail;
  /** The names of the claims that were sent, without their values, which are private. */
  claims: string[];
}

/** Values of a login that the reply of the provider must match. */
export interface Expected {
  state: string;
  nonce: string;
  verifier: string;
}

/** The identity provider of `OIDC_ISSUER`. All functions throw `provider-unavailable` or `provider-refused`. */
export interface IdentityProvider {
  /** Returns the address of the provider to which the browser is sent. */
  authorizationUrl(parameters: Record<string, string>, now: Date): Promise<string>;
  /** Returns the person of a callback, whose parameters are in the URL. */
  identify(callback: URL, expected: Expected): Promise<Subject>;
}

/** How a client proves itself at the token endpoint. Some providers accept only the method that was registered there. */
type Method = 'post' | 'basic';

/**
 * Creates the client of the identity provider. Its metadata is read at first use, again after a failure, and by a login that
 * begins later than `METADATA_MS` after the last read.
 */
export function createIdentityProvider(settings: ProviderSettings, log: Log): IdentityProvider {
  const rules = { claim: settings.OIDC_EMAIL_CLAIM, trust: settings.OIDC_TRUST_EMAIL };
  const discovered = new Map<Method, Promise<Configuration>>();
  let method: Method = 'post';
  let readAt = 0;

  const configurationWith = async (wanted: Method): Promise<Configuration> => {
    const found = discovered.get(wanted) ?? discoverProvider(settings, wanted);
    discovered.set(wanted, found);
    try {
      return await found;
    } catch (cause) {
      discovered.delete(wanted);
      throw cause;
    }
  };

  /** Exchanges the code. If the provider refuses the client, it is tried once with the other method, which then stays. */
  const exchange = async (callback: URL, expected: Expected) => {
    const used = method;
    try {
      return await exchangeCode(await configurationWith(used), callback, expected);
    } catch (error) {
      if (!refusesClient(error)) throw error;
      method = used === 'post' ? 'basic' : 'post';
      return exchangeCode(await configurationWith(method), callback, expected);
    }
  };

  const identify = async (callback: URL, expected: Expected): Promise<Subject> => {
    const tokens = await exchange(callback, expected);
    const idToken = tokens.claims();
    if (!idToken) throw new Error('the response has no ID token');
    const userinfo = lacksEmail(idToken, rules)
      ? await readUserinfo(await configurationWith(method), tokens.access_token, idToken.sub, log)
      : {};
    return {
      issuer: idToken.iss,
      subject: idToken.sub,
      name: readName(idToken, userinfo),
      email: readEmail(idToken, userinfo, rules),
      claims: [...new Set([...Object.keys(idToken), ...Object.keys(userinfo)])],
    };
  };

  return {
    authorizationUrl: (parameters, now) =>
      orProblem(async () => {
        const { buildAuthorizationUrl } = await import('openid-client');
        if (now.getTime() - readAt >= METADATA_MS) {
          discovered.clear();
          readAt = now.getTime();
        }
        return buildAuthorizationUrl(await configurationWith(method), parameters).href;
      }),
    identify: (callback, expected) => orProblem(() => identify(callback, expected)),
  };
}

/**
 * Returns the provider's metadata. An issuer that differs from the provider's own only by a slash at its end is taken for
 * the same: authentik's ends with one, Keycloak's does not. ID tokens must have the provider's own.
 */
export async function discoverProvider(settings: ProviderSettings, method: Method = 'post'): Promise<Configuration> {
  const { OIDC_ISSUER: issuer = '', OIDC_CLIENT_ID: id = '', OIDC_CLIENT_SECRET: secret = '' } = settings;
  const client = await import('openid-client');
  const auth: ClientAuth = method === 'post' ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret);
  const insecure = issuer.startsWith('http:') ? { execute: [client.allowInsecureRequests] } : {};
  const discover = (from: string): Promise<Configuration> =>
    client.discovery(new URL(from), id, secret, auth, { ...insecure, timeout: TIMEOUT_SECONDS });
  try {
    return await discover(issuer);
  } catch (error) {
    const own = (error as { cause?: { body?: { issuer?: string } } }).cause?.body?.issuer;
    if (own === undefined) throw error;
    if (withoutSlash(own) === withoutSlash(issuer)) return discover(own);
    throw new Error(`the issuer of the provider is ${own}: set OIDC_ISSUER to it`, { cause: error });
  }
}

const withoutSlash = (url: string): string => url.replace(/\/$/, '');

async function exchangeCode(
  configuration: Configuration,
  callback: URL,
  { state, nonce, verifier }: Expected,
): Promise<TokenEndpointResponse & TokenEndpointResponseHelpers> {
  const { authorizationCodeGrant } = await import('openid-client');
  return authorizationCodeGrant(configuration, callback, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  });
}

/** Whether the token endpoint refuses the client itself (RFC 6749 section 5.2). */
const refusesClient = (error: unknown): boolean =>
  statusOf(error) === 401 || (error as { error?: string }).error === 'invalid_client';

/** Returns the claims of the userinfo endpoint; an empty object without such an endpoint, or for another subject. */
async function readUserinfo(
  configuration: Configuration,
  accessToken: string,
  subject: string,
  log: Log,
): Promise<Claims> {
  if (!configuration.serverMetadata().userinfo_endpoint) return {};
  const client = await import('openid-client');
  const claims = await client.fetchUserInfo(configuration, accessToken, client.skipSubjectCheck);
  if (claims.sub === subject) return claims;
  log.warn('the userinfo of the identity provider is ignored: it is that of another subject');
  return {};
}

async function orProblem<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    throw isOutage(cause)
      ? new Problem('provider-unavailable', 'The identity provider cannot be reached.', { cause })
      : new Problem('provider-refused', 'The identity provider refused the login, or its reply is not valid.', {
          cause,
        });
  }
}

/** Returns the HTTP status of the reply that an error is about. */
function statusOf(error: unknown): number | undefined {
  const { status, cause } = error as { status?: number; cause?: unknown };
  return status ?? (cause instanceof Response ? cause.status : undefined);
}

/** Whether an error is a network fault or a 5xx reply. `fetch` throws a `TypeError` without a code. */
function isOutage(error: unknown): boolean {
  const { code } = error as { code?: string };
  if (code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT') return true;
  return (error instanceof TypeError && code === undefined) || (statusOf(error) ?? 0) >= 500;
}

/** Returns an error of the provider in one line, with the provider's own words and all causes. */
export function describeFault(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) {
    const { error: code, error_description: text } = at as { error?: string; error_description?: string };
    parts.push(at.message, ...[code, text].filter(part => typeof part === 'string'));
    if (at.cause instanceof Response) parts.push(`HTTP ${at.cause.status} from ${at.cause.url}`);
    if (Array.isArray(at.cause)) parts.push(JSON.stringify(at.cause)); // the challenges of WWW-Authenticate
  }
  return parts.join(': ').slice(0, 500).toWellFormed();
}
