import { type Caches, textBytes } from '../../platform/caches.ts';
import type { UserCaller } from '../caller.ts';
import { type VerifiedToken, verifyAccessToken } from './access-tokens.ts';
import type { KeySource } from './key-ring.ts';

/** Longer tokens are verified each time: one of them would take the place of many others. */
const MAX_TOKEN_LENGTH = 1024;
/** Heap bytes of a verified token beyond its texts: the token, the caller, its digest in the card cache, a date. */
const TOKEN_BYTES = 400;

/** Verifies access tokens; one that was verified before costs a look-up. */
export interface TokenVerifier {
  /** The user whom the token speaks for. Rejects with what `verifyAccessToken` throws. */
  verify(token: string, now: Date, keys?: KeySource): Promise<UserCaller>;
  /** The same at once for a token that is remembered as valid; `undefined` for any other. */
  remembered(token: string, now: Date, keys?: KeySource): UserCaller | undefined;
}

/**
 * A verifier that remembers what it found valid, by the whole token.
 *
 * A remembered token ends with its time, and with its key: it is valid only while `keys` (by default the keys that are
 * known to be current) hold the key of the same generation, which any change to the key replaces. It does not refer to
 * the key itself, which it would keep in memory. Failures are not remembered, so made-up tokens take no room and reveal
 * nothing through the time a reply takes.
 */
export function createTokenVerifier(current: KeySource, caches: Caches): TokenVerifier {
  /** The time is that of the latest request: tokens that ended before it are dropped. */
  let latest = 0;
  const verified = caches.create<string, VerifiedToken>('tokens', {
    sizeOf: ({ caller }, token) => TOKEN_BYTES + textBytes(token) + textBytes(caller.user) + textBytes(caller.identity),
    isExpired: ({ validUntil }) => validUntil <= latest,
  });

  const isValid = ({ validUntil, caller, keyGeneration }: VerifiedToken, now: Date, keys: KeySource): boolean =>
    now.getTime() < validUntil && keys.held(caller.keyId)?.generation === keyGeneration;

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
