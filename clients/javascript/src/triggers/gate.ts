import type { Card } from '../types.ts';

/** Which cards may be shown now. */
export interface Gate {
  isOpen(card: Card): boolean;
  /** Whether the card has not expired. */
  isLive(card: Card): boolean;
  /** Notes that a card is shown. */
  pass(card: Card): void;
  /** Notes a new list; cards shown at least `pollAfterMs` ago may be shown again. */
  renew(list: Card[], pollAfterMs: number): void;
  reset(): void;
}

/**
 * Creates the gate of a client: per fetch each card once, and one card under the cooldown. A card of the list that is shown
 * without a trigger counts as that one.
 */
export function createGate(now: () => number): Gate {
  /** When each card was shown. A list that is fetched right after may still contain an answered one. */
  const shown = new Map<string, number>();
  let isAsked = false;
  const isLive = ({ expires_at }: Card) => !expires_at || Date.parse(expires_at) > now();
  return {
    isLive,
    isOpen: card => !shown.has(card.id) && !(card.in_cooldown && isAsked) && isLive(card),
    pass({ id, in_cooldown }) {
      shown.set(id, now());
      isAsked ||= Boolean(in_cooldown);
    },
    renew(list, pollAfterMs) {
      for (const [id, at] of shown) if (now() - at >= pollAfterMs) shown.delete(id);
      isAsked = list.some(({ id, trigger, in_cooldown }) => in_cooldown && (!trigger || shown.has(id)));
    },
    reset: () => shown.clear(),
  };
}
