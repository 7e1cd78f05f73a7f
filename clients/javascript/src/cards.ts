import type { Call, CallOptions } from './call.ts';
import { unreadable } from './errors.ts';
import { type Query, withQuery } from './path.ts';
import { asOwner, isSameOwner, type Owner } from './tokens.ts';
import type { Appearance, Card, CardQuery } from './types.ts';
import type { Reply } from './wire.ts';

export interface CardReader {
  /** The user's current cards, at most 20, highest priority first. */
  listCards(query?: CardQuery, options?: CallOptions): Promise<Card[]>;
  /** The tenant's appearance of cards in the last fetched list; undefined from servers before 0.3. */
  appearance(): Appearance | undefined;
  /** Minimum time between two fetches of unchanged cards, in milliseconds, as in the last fetched list. */
  pollAfterMs(): number;
  /** The user a card was fetched for. Card ids are unique per user. */
  ownerOf(cardId: string): Owner | undefined;
  /** Notes the user of a card that this client has not fetched, such as one that the device has kept. */
  adopt(cardId: string, owner: Owner): void;
}

/** Body of the response; `appearance` is absent from servers before 0.3. */
interface CardList {
  data?: Card[];
  appearance?: Appearance;
  poll_after_s?: number;
}

/** The last fetched list of cards. */
interface Hand {
  question: string;
  owner: Owner;
  etag: string;
  cards: Card[];
}

/** Fetches cards, with the ETag of the cached list. */
export function createCardReader(request: (call: Call) => Promise<Reply>): CardReader & { forget(): void } {
  const owners = new Map<string, Owner>();
  let last: Hand | undefined;
  let appearance: Appearance | undefined;
  let pollAfterMs = 60_000;
  return {
    async listCards(query = {}, options) {
      const question = withQuery('/v1/cards', query as Query);
      let asked: Owner | undefined;
      let known: Hand | undefined;
      const { status, headers, json } = await request({
        method: 'GET',
        path: question,
        operation: 'listCards',
        options,
        headers: (owner): Record<string, string> => {
          asked = owner;
          known = last?.question === question && isSameOwner(last.owner, owner) ? last : undefined;
          return known ? { 'If-None-Match': known.etag } : {};
        },
      });
      if (status === 304 && known) return known.cards;
      const { data: cards, appearance: given, poll_after_s } = Object(json) as CardList;
      if (!asked || !Array.isArray(cards)) throw unreadable(status, headers);
      const owner = asOwner(asked);
      appearance = given;
      if (poll_after_s !== undefined) pollAfterMs = poll_after_s * 1000;
      for (const card of cards) owners.set(card.id, owner);
      const etag = headers.get('ETag');
      last = etag ? { question, owner, etag, cards } : undefined;
      return cards;
    },
    appearance: () => appearance,
    pollAfterMs: () => pollAfterMs,
    ownerOf: cardId => owners.get(cardId),
    adopt: (cardId, owner) => void owners.set(cardId, owner),
    forget() {
      last = undefined;
    },
  };
}
