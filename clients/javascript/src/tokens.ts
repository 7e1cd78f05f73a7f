import { ParleyError, userChanged } from './errors.ts';
import type { Credential } from './types.ts';

/** Provides the current user's token; returns or throws an error if there is none. */
export type Provider = () => Promise<Credential | Error> | Credential | Error;

/** Owner of a token or an answer. */
export interface Owner {
  tenant: string;
  identity: string;
}

/** A token with its decoded claims. They are not verified here but by the server. */
export interface Token extends Owner {
  text: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

export const isSameOwner = (a: Owner, b: Owner): boolean => a.tenant === b.tenant && a.identity === b.identity;

/** Remaining lifetime at which a token is replaced. */
const RENEW_BEFORE_MS = 60_000;

function readClaims(text: string): { sub?: unknown; exp?: unknown; grants?: { identity?: unknown } } {
  const part = text.split('.')[1] ?? '';
  const bytes = Uint8Array.from(atob(part.replace(/-/g, '+').replace(/_/g, '/')), sign => sign.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** Decodes a credential. Throws if it is not a token. */
function readToken(credential: Credential): Token {
  const { sub, exp, grants } = readClaims(credential.access_token);
  if (typeof sub !== 'string' || typeof exp !== 'number' || typeof grants?.identity !== 'string')
    throw new TypeError('The provider did not return an access token.');
  return { text: credential.access_token, tenant: sub, identity: grants.identity, expiresAt: exp * 1000 };
}

async function askProvider(provider: Provider): Promise<Token> {
  try {
    const credential = await provider();
    if (credential instanceof Error) throw credential;
    return readToken(credential);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ParleyError('provider-failed', `The provider returned no access token: ${why}`, { cause });
  }
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

/** Caches one token for the current user; concurrent requests share one provider call. */
export function createTokenCache(provider: Provider, now: () => number): TokenCache {
  let current: OpenVisit = startVisit();

  function startVisit(): OpenVisit {
    let held: Token | undefined;
    let pending: Promise<Token> | undefined;
    const check = () => {
      if (current !== visit) throw userChanged();
    };
    const fetchToken = async (): Promise<Token> => {
      try {
        const token = await askProvider(provider);
        check(); // discard tokens requested before the logout
        held = token;
        return token;
      } catch (error) {
        check();
        if (held && now() < held.expiresAt) return held;
        throw error;
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
        return held && now() < held.expiresAt - RENEW_BEFORE_MS ? held : renew();
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
