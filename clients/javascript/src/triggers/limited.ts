import type { Card } from '../types.ts';
import type { Gate } from './gate.ts';
import { isOnPage } from './matching.ts';
import type { TriggeredCard } from './memory.ts';

/** Shows cards, and hides them. */
export interface Display {
  /** Shows a card; returns whether it is shown. */
  present(card: Card): boolean;
  /** Hides a shown card unless the user has begun to answer it; returns whether it is hidden. */
  hide(card: Card): boolean;
}

/** The shown cards that are limited to pages. */
export interface LimitedCards {
  /** Notes a shown card. */
  add(card: TriggeredCard): void;
  /** Hides the untouched cards of other pages, and shows again those of this page. */
  follow(url: string): void;
  /** Leaves all other cards hidden. */
  keepOnly(ids: string[]): void;
}

/** Starts without cards. */
export function createLimitedCards({ present, hide }: Display, gate: Gate): LimitedCards {
  const shown = new Map<string, TriggeredCard>();
  const hidden = new Map<string, TriggeredCard>();
  return {
    add(card) {
      if (card.trigger.url) shown.set(card.id, card);
    },
    follow(url) {
      for (const [id, card] of [...shown])
        if (!isOnPage(card.trigger, url) && hide(card)) {
          shown.delete(id);
          hidden.set(id, card);
        }
      for (const [id, card] of [...hidden])
        if (isOnPage(card.trigger, url) && gate.isLive(card) && present(card)) {
          hidden.delete(id);
          shown.set(id, card);
        }
    },
    keepOnly(ids) {
      for (const id of [...hidden.keys()]) if (!ids.includes(id)) hidden.delete(id);
    },
  };
}
