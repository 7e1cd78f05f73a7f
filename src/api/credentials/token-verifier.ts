import { type Caches, textBytes } from '../../platform/caches.ts';
import type { UserCaller } from '../caller.ts';
import { type VerifiedToken, verifyAccessToken } from './access-tokens.ts';
import type { KeySource } from './key-ring.ts';

/** Longer tokens are not cached: one of them would displace many others. */
const MAX_TOKEN_LENGTH = 1024;
/** Heap bytes of a verified token besides its strings: the token, the caller, its digest in the card cache, a date. */
const TOKEN_BYTES = 400;

/** Verifies access tokens. A token that was verified before costs one lookup. */
export interface TokenVerifier {
  /** Returns the user of the token. Rejects like `verifyAccessToken`. */
  verify(token: string, now: Date, keys?: KeySource): Promise<UserCaller>;
  /** Returns the user synchronously for a token cached as valid; `undefined` for any other. */
  remembered(token: string, now: Date, keys?: KeySource): UserCaller | undefined;
}

/**
 * Creates a verifier that caches valid tokens by their full text.
 *
 * A cached token ends with its expiry and with its key: `keys` (by default those known to be current) must hold the key
 * in the same generation, which changes with the key. The cache holds no reference to the key, which would keep it in
 * memory. Failures are not cached, so made-up tokens use no space and response times reveal nothing about them.
 */
export function createTokenVerifier(current: KeySource, caches: Caches): TokenVerifier {
  /** The time of the latest request: tokens that expired before it are dropped. */
  let latest = 0;
  const verified = caches.create<string, VerifiedToken>('tokens', {
    sizeOf: ({ caller }, token) => TOKEN_BYTES + textBytes(token) + textBytes(caller.user) + textBytes(caller.identity),
    isExpired: ({ validUntil }) => validUntil <= latest,
  });

  const isValid = ({ validUntil, caller, keyGeneration }: VerifiedToken, now: Date, keys: KeySource): boolean =>
    now.getTime() < validUntil && keys.cached(caller.keyId)?.generation === keyGeneration;

  const find = (token: string, now: Date, keys: KeySource): UserCaller | undefined => {
    const known = verified.peek(token);
    return known && isValid(known, now, keys) ? known.caller : undefined;
  };

  return {
    remembered(token, now, keys = current) {
      const caller = find(token, now, keys);
      verified.count(caller !== undefined);
      return caller;
    },
    async verify(token, now, keys = current) {
      const known = find(token, now, keys);
      if (known) return known;
      const found = await verifyAccessToken(token, keys, now);
      latest = now.getTime();
      if (token.length <= MAX_TOKEN_LENGTH) verified.set(token, found);
      return found.caller;
    },
  };
}
