import { LRUCache } from 'lru-cache';
import { stringify } from 'uuid';
import type { Keychain } from '../platform/secrets.ts';
import type { UserCaller } from './authentication/caller.ts';

/** Whose card of which question. */
export type CardOwner = Pick<UserCaller, 'tenantId' | 'identity' | 'verified' | 'user'>;

/**
 * Makes the deterministic ids of an owner's cards, by question: the same on every device and fetch, and checked without
 * reading a row.
 */
export type CardIds = (owner: CardOwner) => (questionId: string) => string;

/** Every frequency that is served has one cycle; the number keeps its place for those that have many. */
const CYCLE = '0';

/** How many owners a process remembers: users who are active, for whom the same ids are asked for again and again. */
const MAX_OWNERS = 20_000;
/** How many ids of an owner: any question may be asked for, made-up ones too. */
const MAX_IDS = 50;

/** Card ids as UUIDv8 (RFC 9562 section 5.8) from an HMAC under a key of ours, so that only Parley can make one. */
export function createCardIds(keychain: Keychain): CardIds {
  const remembered = new LRUCache<string, Map<string, string>>({ max: MAX_OWNERS });

  const idsOf = ({ user }: CardOwner): Map<string, string> => {
    const known = remembered.peek(user);
    if (known) return known;
    const ids = new Map<string, string>();
    remembered.set(user, ids);
    return ids;
  };

  const make = ({ tenantId, identity, verified }: CardOwner, questionId: string): string => {
    const bytes = keychain.mac('cards', tenantId, identity, String(verified), questionId, CYCLE).subarray(0, 16);
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    return stringify(bytes);
  };

  return owner => {
    const ids = idsOf(owner);
    return questionId => {
      const known = ids.get(questionId);
      if (known) return known;
      const id = make(owner, questionId);
      if (ids.size >= MAX_IDS) ids.clear();
      ids.set(questionId, id);
      return id;
    };
  };
}
