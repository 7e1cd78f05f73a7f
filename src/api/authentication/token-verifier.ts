import { LRUCache } from 'lru-cache';
import { type VerifiedToken, verifyAccessToken } from './access-tokens.ts';
import type { UserCaller } from './caller.ts';
import type { KeyRing } from './key-ring.ts';

/** How many verified tokens a process remembers: some 20 MB at the usual length. Those it met first are forgotten first. */
export const MAX_TOKENS = 20_000;
/** Longer tokens are verified each time, so that what is remembered stays bounded in bytes too. */
const MAX_TOKEN_LENGTH = 1024;

/** Verifies access tokens; one that was verified before costs a look-up. */
export interface TokenVerifier {
  /** The user whom the token speaks for. Rejects with what `verifyAccessToken` throws. */
  verify(token: string, now: Date): Promise<UserCaller>;
  /** The same at once for a token that is remembered as valid; `undefined` for any other. */
  remembered(token: string, now: Date): UserCaller | undefined;
}

/**
 * A verifier that remembers what it found valid, by the whole token.
 *
 * A remembered token dies with its time, and with its key: it counts only while the ring holds the very key object
 * that verified it, which any change to the key replaces. Failures are not remembered, so made-up tokens take no room
 * and learn nothing from how long a reply takes.
 */
export function createTokenVerifier(keyRing: KeyRing): TokenVerifier {
  const verified = new LRUCache<string, VerifiedToken>({ max: MAX_TOKENS });
  const remembered = (token: string, now: Date): UserCaller | undefined => {
    const known = verified.peek(token);
    if (!known || now.getTime() >= known.validUntil) return undefined;
    return keyRing.held(known.caller.keyId) === known.key ? known.caller : undefined;
  };
  return {
    remembered,
    async verify(token, now) {
      const known = remembered(token, now);
      if (known) return known;
      const found = await verifyAccessToken(token, keyRing, now);
      if (token.length <= MAX_TOKEN_LENGTH) verified.set(token, found);
      return found.caller;
    },
  };
}
