import type { Client } from '../client.ts';
import { ParleyError } from '../errors.ts';
import type { Card } from '../types.ts';
import { createDeck } from './deck.ts';
import { createGate } from './gate.ts';
import type { Properties } from './matching.ts';
import { openMemory, type TextStorage, type TriggeredCard } from './memory.ts';
import { watchPage } from './page.ts';

export type { Properties } from './matching.ts';
export type { TextStorage } from './memory.ts';

export interface TriggerOptions {
  /** Storage of the counts and of the cards with a trigger; defaults to `localStorage`. */
  storage?: TextStorage;
}

/** A client that shows cards with a trigger. */
export interface TriggerClient extends Client {
  /**
   * Reports an event. It is not sent, but compared with the cards at hand, also offline; a card whose trigger it completes
   * is shown. Cards that arrive later do not learn of it.
   */
  track(name: string, properties?: Properties): void;
  /** Reports the displayed URL or screen. In browsers the URL is watched. */
  trackPage(url: string): void;
  onTriggered(listener: (card: Card) => boolean, hide?: (card: Card) => boolean): () => void;
}

/**
 * Adds triggers to a client, and returns that client. `listCards` then also fetches the cards with a trigger, and returns
 * the others. An event, a click or a page view sets a card off: `<parley-feedback>` shows it, and an interface of your own
 * receives it by `onTriggered`.
 */
export function addTriggers(client: Client, options: TriggerOptions = {}): TriggerClient {
  const { listCards, ownerOf } = client;
  const memory = openMemory(options.storage);
  const gate = createGate(client.wire.now);
  const listeners = new Set<{ show(card: Card): boolean; hide?: ((card: Card) => boolean) | undefined }>();
  const deck = createDeck({
    memory,
    gate,
    display: {
      present: card => [...listeners].some(({ show }) => show(card)),
      hide: card => [...listeners].some(({ hide }) => hide?.(card)),
    },
  });
  let isRefused = false;

  function take(list: Card[]): void {
    const cards = list.filter((card): card is TriggeredCard => Boolean(card.trigger));
    deck.keepOnly(cards.map(({ id }) => id));
    memory.keep(cards[0] && ownerOf(cards[0].id), cards);
    gate.renew(list, client.pollAfterMs());
    deck.lookAtPage();
  }

  /** Fetches the cards; from a server that does not know triggers those without. */
  async function fetchCards(...[query, options]: Parameters<typeof listCards>): Promise<Card[]> {
    try {
      return await listCards(isRefused ? query : { ...query, triggers: true }, options);
    } catch (error) {
      if (isRefused || !(error instanceof ParleyError) || error.code !== 'unknown-parameter') throw error;
      isRefused = true;
      return listCards(query, options);
    }
  }

  /** Drops the cards of another user: after a restart the user is known only with the first token. */
  function checkUser(): void {
    if (memory.isOfOther(client.heldOwner())) take([]);
  }

  Object.assign(client, {
    async listCards(...call: Parameters<typeof listCards>) {
      const list = await fetchCards(...call);
      take(list);
      return list.filter(({ trigger }) => !trigger);
    },
    ownerOf: (id: string) => ownerOf(id) ?? memory.ownerOf(id),
    track(name: string, properties: Properties = {}) {
      checkUser();
      deck.event(name, properties);
    },
    trackPage: deck.page,
    onTriggered(show: (card: Card) => boolean, hide?: (card: Card) => boolean) {
      const listener = { show, hide };
      listeners.add(listener);
      deck.showDue();
      return () => void listeners.delete(listener);
    },
  });
  client.onLogout(() => {
    gate.reset();
    take([]);
  });
  watchPage({
    onPage: deck.page,
    onClick(path) {
      checkUser();
      deck.click(path);
    },
  });
  return client as TriggerClient;
}
