import { isNetworkFailure, ParleyError, reasonOf, userChanged } from './errors.ts';
import { within } from './limit.ts';
import type { Credential } from './types.ts';

/**
 * Provides the current user's token; returns or throws an error if there is none.
 *
 * A thrown `ParleyError` that is `retryable`, or a failed `fetch`, is retried like a failed request.
 */
export type Provider = () => Promise<Credential | Error> | Credential | Error;

/** Owner of a token or an answer. */
export interface Owner {
  tenant: string;
  identity: string;
  /** False if a public token only claims the identity. Absent from answers recorded by versions before 0.2. */
  verified?: boolean | undefined;
}

/** A token with its decoded claims. They are not verified here but by the server. */
export interface Token extends Owner {
  text: string;
  /** End of its life by the clock of this device, in milliseconds since 1970. */
  expiresAt: number;
  /** When a new one is requested. */
  renewAt: number;
}

/** Whether two owners are the same user. A claimed user is not the verified user of that name. */
export const isSameOwner = (a: Owner, b: Owner): boolean =>
  a.tenant === b.tenant && a.identity === b.identity && (a.verified ?? b.verified) === (b.verified ?? a.verified);

/** Copies an owner without the other members of a token or an entry. */
export const asOwner = ({ tenant, identity, verified }: Owner): Owner => ({ tenant, identity, verified });

/** Remaining lifetime at which a token is replaced. */
const RENEW_BEFORE_MS = 60_000;
/** Maximum lifetime of a token (specification 5.3). */
const LONGEST_LIFE_MS = 3_600_000;

function readClaims(text: string): { sub?: unknown; exp?: unknown; grants?: { identity?: unknown } } {
  const part = text.split('.')[1] ?? '';
  const bytes = Uint8Array.from(atob(part.replace(/-/g, '+').replace(/_/g, '/')), sign => sign.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

/**
 * Lifetime of a token from now on. The clock of a device is often wrong: without `expires_in`, an expiry that is past,
 * imminent or too far away is not evidence. The token is then used until the server rejects it.
 */
function lifeOf({ expires_in }: Credential, expiresAt: number, now: number): number {
  if (typeof expires_in === 'number' && expires_in > 0) return Math.min(expires_in * 1000, LONGEST_LIFE_MS);
  const life = expiresAt - now;
  return life > RENEW_BEFORE_MS && life <= LONGEST_LIFE_MS ? life : LONGEST_LIFE_MS;
}

/** Decodes a credential. Throws if it is not a token. */
function readToken(credential: Credential, now: number): Token {
  const { sub, exp, grants } = readClaims(credential.access_token);
  if (typeof sub !== 'string' || typeof exp !== 'number' || typeof grants?.identity !== 'string')
    throw new TypeError('it has no user.');
  const life = lifeOf(credential, exp * 1000, now);
  return {
    text: credential.access_token,
    tenant: sub,
    identity: grants.identity,
    verified: credential.verified !== false,
    expiresAt: now + life,
    renewAt: now + life - Math.min(RENEW_BEFORE_MS, life / 2),
  };
}

/** The error for a failure of the provider, as retryable as its cause. */
function providerFailed(cause: unknown): ParleyError {
  const { retryable, retryAfterMs } = Object(cause) as Partial<ParleyError>;
  return new ParleyError('provider-failed', `The provider returned no access token: ${reasonOf(cause)}`, {
    cause,
    retryable: retryable === true || isNetworkFailure(cause),
    retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : null,
  });
}

/** The session of one user; ends at logout. */
export interface Visit {
  /** Returns the cached token or a new one. Throws `provider-failed`, `user-changed`. */
  token(): Promise<Token>;
  /** Returns a token to replace a rejected one. */
  replace(refused: Token): Promise<Token>;
  /** Throws `user-changed` if the session has ended. */
  check(): void;
}

/** A session with its cached token. */
type OpenVisit = Visit & { held(): Token | undefined };

export interface TokenCache {
  visit(): Visit;
  /** The cached token, without a call to the provider. */
  held(): Token | undefined;
  /** Ends the session: drops the token and requests the next user's in the background. */
  logout(): void;
}

/** Clock and time limit of a provider. */
export interface Timing {
  now(): number;
  timeoutMs: number;
}

/** Caches one token for the current user; concurrent requests share one provider call. */
export function createTokenCache(provider: Provider, { now, timeoutMs }: Timing): TokenCache {
  let current: OpenVisit = startVisit();

  function startVisit(): OpenVisit {
    let held: Token | undefined;
    let pending: Promise<Token> | undefined;
    const check = () => {
      if (current !== visit) throw userChanged();
    };
    /** Asks the provider. A token that arrives after the time limit serves the next request. */
    const askProvider = async (): Promise<Token> => {
      const credential = await provider();
      if (credential instanceof Error) throw credential;
      const token = readToken(credential, now());
      check(); // discard tokens requested before the logout
      held = token;
      return token;
    };
    const fetchToken = async (): Promise<Token> => {
      try {
        return await within(timeoutMs, askProvider(), 'The provider did not return');
      } catch (error) {
        check();
        if (held && now() < held.expiresAt) return held;
        throw providerFailed(error);
      } finally {
        pending = undefined;
      }
    };
    const renew = (): Promise<Token> => {
      pending ??= fetchToken();
      return pending;
    };
    const visit: OpenVisit = {
      held: () => held,
      check,
      async token() {
        check();
        return held && now() < held.renewAt ? held : renew();
      },
      async replace(refused: Token) {
        check();
        if (held && held !== refused) return held;
        held = undefined;
        return renew();
      },
    };
    return visit;
  }

  return {
    visit: () => current,
    held: () => current.held(),
    logout() {
      current = startVisit();
      current.token().catch(() => undefined); // the next call retries and reports the error
    },
  };
}
