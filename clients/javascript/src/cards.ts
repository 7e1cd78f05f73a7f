import type { Call } from './call.ts';
import { ParleyError } from './errors.ts';
import { type Query, withQuery } from './path.ts';
import { isSameOwner, type Owner } from './tokens.ts';
import type { Card, CardQuery } from './types.ts';
import type { Reply } from './wire.ts';

export interface CardReader {
  /** The user's current cards, at most 20, highest priority first. */
  listCards(query?: CardQuery): Promise<Card[]>;
  /** The user a card was fetched for. Card ids are unique per user. */
  ownerOf(cardId: string): Owner | undefined;
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
  return {
    async listCards(query = {}) {
      const question = withQuery('/v1/cards', query as Query);
      let asked: Owner | undefined;
      let known: Hand | undefined;
      const { status, headers, json } = await request({
        method: 'GET',
        path: question,
        headers: (owner): Record<string, string> => {
          asked = owner;
          known = last && last.question === question && isSameOwner(last.owner, owner) ? last : undefined;
          return known ? { 'If-None-Match': known.etag } : {};
        },
      });
      if (status === 304 && known) return known.cards;
      const cards = (json as { data?: Card[] } | undefined)?.data;
      if (!asked || !Array.isArray(cards))
        throw new ParleyError('unreadable', 'The response contains no cards.', { status });
      for (const card of cards) owners.set(card.id, { tenant: asked.tenant, identity: asked.identity });
      last = { question, owner: asked, etag: headers.get('ETag') ?? '', cards };
      if (last.etag === '') last = undefined;
      return cards;
    },
    ownerOf: cardId => owners.get(cardId),
    forget() {
      last = undefined;
    },
  };
}
