import { type Caches, textBytes } from '../../platform/caches.ts';
import { type VerifiedToken, verifyAccessToken } from './access-tokens.ts';
import type { UserCaller } from './caller.ts';
import type { KeyRing } from './key-ring.ts';

/** Longer tokens are verified each time: one of them would take the place of many others. */
const MAX_TOKEN_LENGTH = 1024;
/** Heap bytes of a verified token beyond its texts: the token, the caller, its digest in the card cache, a date. */
const TOKEN_BYTES = 400;

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
 * A remembered token ends with its time, and with its key: it is valid only while the ring holds the key of the same
 * generation, which any change to the key replaces. It does not refer to the key itself, which it would keep in memory.
 * Failures are not remembered, so made-up tokens take no room and learn nothing from how long a reply takes.
 */
export function createTokenVerifier(keyRing: KeyRing, caches: Caches): TokenVerifier {
  /** The time is that of the latest request: tokens that ended before it are dropped. */
  let latest = 0;
  const verified = caches.create<string, VerifiedToken>('tokens', {
    sizeOf: ({ caller }, token) => TOKEN_BYTES + textBytes(token) + textBytes(caller.user) + textBytes(caller.identity),
    isExpired: ({ validUntil }) => validUntil <= latest,
  });

  const isValid = ({ validUntil, caller, keyGeneration }: VerifiedToken, now: Date): boolean =>
    now.getTime() < validUntil && keyRing.held(caller.keyId)?.generation === keyGeneration;

  const find = (token: string, now: Date): UserCaller | undefined => {
    const known = verified.peek(token);
    return known && isValid(known, now) ? known.caller : undefined;
  };

  return {
    remembered(token, now) {
      const caller = find(token, now);
      verified.count(caller !== undefined);
      return caller;
    },
    async verify(token, now) {
      const known = find(token, now);
      if (known) return known;
      const found = await verifyAccessToken(token, keyRing, now);
      latest = now.getTime();
      if (token.length <= MAX_TOKEN_LENGTH) verified.set(token, found);
      return found.caller;
    },
  };
}
