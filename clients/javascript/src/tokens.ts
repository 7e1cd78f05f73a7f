import { ParleyError, userChanged } from './errors.ts';
import type { Credential } from './types.ts';

/** Gives the present user's token, or says (or throws) why there is none. */
export type Provider = () => Promise<Credential | Error> | Credential | Error;

/** Whose something is. */
export interface Owner {
  tenant: string;
  identity: string;
}

/** A token with what it says of itself. Nothing of that is proven here: the server does it. */
export interface Token extends Owner {
  text: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

export const isSameOwner = (a: Owner, b: Owner): boolean => a.tenant === b.tenant && a.identity === b.identity;

/** How long before its end a token is replaced. */
const RENEW_BEFORE_MS = 60_000;

function readClaims(text: string): { sub?: unknown; exp?: unknown; grants?: { identity?: unknown } } {
  const part = text.split('.')[1] ?? '';
  const bytes = Uint8Array.from(atob(part.replace(/-/g, '+').replace(/_/g, '/')), sign => sign.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** A credential as a token. Throws where it is none. */
function readToken(credential: Credential): Token {
  const { sub, exp, grants } = readClaims(credential.access_token);
  if (typeof sub !== 'string' || typeof exp !== 'number' || typeof grants?.identity !== 'string')
    throw new TypeError('The provider gave something else than an access token.');
  return { text: credential.access_token, tenant: sub, identity: grants.identity, expiresAt: exp * 1000 };
}

async function askProvider(provider: Provider): Promise<Token> {
  try {
    const credential = await provider();
    if (credential instanceof Error) throw credential;
    return readToken(credential);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ParleyError('provider-failed', `The provider gave no access token: ${why}`, { cause });
  }
}

/** One user's time with the app: it is over when somebody logs out. */
export interface Visit {
  /** A token that serves: the one held, or a new one. Throws `provider-failed`, `user-changed`. */
  token(): Promise<Token>;
  /** A token in place of one that the server refused. */
  replace(refused: Token): Promise<Token>;
  /** Throws `user-changed` when the visit is over. */
  check(): void;
}

/** A visit with the token that it holds. */
type OpenVisit = Visit & { held(): Token | undefined };

export interface TokenCache {
  visit(): Visit;
  /** The token at hand, without asking anybody. */
  held(): Token | undefined;
  /** Ends the visit: forgets the token, and asks for the next user's beside. */
  logout(): void;
}

/** Holds one token for the present user; however many ask at a time, the provider is asked once. */
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
        check(); // what was on its way when the user logged out serves nobody
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
      current.token().catch(() => undefined); // whoever needs the token next asks again, and is told
    },
  };
}
