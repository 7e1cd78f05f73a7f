import { stringify } from 'uuid';
import { type Caches, textBytes } from '../../platform/caches.ts';
import type { Keychain } from '../../platform/secrets.ts';
import type { UserCaller } from '../caller.ts';

/** Whose card of which question. */
export type CardOwner = Pick<UserCaller, 'tenantId' | 'identity' | 'verified' | 'user'>;

/**
 * Makes the deterministic ids of an owner's cards, by question: the same on every device and fetch, and checked without
 * reading a row.
 */
export type CardIds = (owner: CardOwner) => (questionId: string) => string;

/** Every frequency that is served has one cycle; the number keeps its place for those that have many. */
const CYCLE = '0';

/** Heap bytes of an owner beyond the name, and of each id: two UUIDs and their place in the owner's map. */
const OWNER_BYTES = 220;
const ID_BYTES = 155;

/** Card ids as UUIDv8 (RFC 9562 section 5.8) from an HMAC under a key of ours, so that only Parley can make one. */
export function createCardIds(keychain: Keychain, caches: Caches): CardIds {
  /** The ids of each user, by question. */
  const remembered = caches.createGenerations<string, Map<string, string>>('card_ids');

  /** The user's ids in the younger generation, where new ones are kept. */
  const idsFor = (user: string): Map<string, string> => {
    const known = remembered.findYoung(user);
    if (known) return known;
    const ids = new Map<string, string>();
    remembered.set(user, ids, OWNER_BYTES + textBytes(user));
    return ids;
  };

  const make = ({ tenantId, identity, verified }: CardOwner, questionId: string): string => {
    const bytes = keychain.mac('cards', tenantId, identity, String(verified), questionId, CYCLE).subarray(0, 16);
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    return stringify(bytes);
  };

  return owner => {
    let ids = remembered.find(owner.user);
    return questionId => {
      const known = ids?.get(questionId);
      remembered.count(known !== undefined);
      if (known) return known;
      const id = make(owner, questionId);
      remembered.grow(ID_BYTES); // first: it may begin a new generation
      ids = idsFor(owner.user);
      ids.set(questionId, id);
      return id;
    };
  };
}
