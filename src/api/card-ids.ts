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

/** Card ids as UUIDv8 (RFC 9562 section 5.8) from an HMAC under `SECRET_KEY`, so that only Parley can make one. */
export const createCardIds =
  (keychain: Keychain): CardIds =>
  ({ tenantId, identity, verified }, questionId) => {
    const bytes = keychain.mac('cards', tenantId, identity, String(verified), questionId, CYCLE).subarray(0, 16);
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    return stringify(bytes);
  };
