import { LRUCache } from 'lru-cache';
import { stringify } from 'uuid';
import type { Keychain } from '../platform/secrets.ts';

/** Whose card of which question. */
export interface CardOwner {
  tenantId: string;
  identity: string;
  verified: boolean;
}

/** Makes the deterministic id of a card: the same on every device and fetch, and checked without reading a row. */
export type CardIds = (owner: CardOwner, questionId: string) => string;

/** Every frequency that is served has one cycle; the number keeps its place for those that have many. */
const CYCLE = '0';

/** How many ids a process remembers: those of the users who are active, for whom each is asked for again and again. */
const MAX_REMEMBERED = 50_000;

/** Card ids as UUIDv8 (RFC 9562 section 5.8) from an HMAC under a key of ours, so that only Parley can make one. */
export function createCardIds(keychain: Keychain): CardIds {
  const remembered = new LRUCache<string, string>({ max: MAX_REMEMBERED });
  return ({ tenantId, identity, verified }, questionId) => {
    const name = `${tenantId}${questionId}${verified}${identity}`;
    const known = remembered.get(name);
    if (known) return known;
    const bytes = keychain.mac('cards', tenantId, identity, String(verified), questionId, CYCLE).subarray(0, 16);
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    const id = stringify(bytes);
    remembered.set(name, id);
    return id;
  };
}
