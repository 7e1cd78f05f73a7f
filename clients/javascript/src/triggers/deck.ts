import { notify } from '../callbacks.ts';
import type { Gate } from './gate.ts';
import { createLimitedCards, type Display } from './limited.ts';
import { isMet, isOnPage, type Properties } from './matching.ts';
import type { Memory, TriggeredCard } from './memory.ts';

/** Compares the occurrences on the device with the cards at hand. */
export interface Deck {
  event(name: string, properties: Properties): void;
  click(path: EventTarget[]): void;
  page(url: string): void;
  /** Compares the present page with cards that have not counted it. */
  lookAtPage(): void;
  /** Shows cards that the present page set off before the first view existed. */
  showDue(): void;
  /** Ends the delay of all other cards, and does not show them again. */
  keepOnly(ids: string[]): void;
}

interface Parts {
  memory: Memory;
  gate: Gate;
  display: Display;
}

/** Creates the deck. Every occurrence is compared with the cards at hand only. */
export function createDeck({ memory, gate, display }: Parts): Deck {
  /** Timers of cards that wait for their delay. */
  const waiting = new Map<string, ReturnType<typeof setTimeout>>();
  let url = '';
  /** Cards that have counted the present page. */
  const counted = new Set<string>();
  const limited = createLimitedCards(display, gate);

  function cancel(isCancelled: (card: TriggeredCard) => boolean): void {
    for (const card of memory
      .cards()
      .filter(({ id }) => waiting.has(id))
      .filter(isCancelled)) {
      clearTimeout(waiting.get(card.id));
      waiting.delete(card.id);
    }
  }

  function show(card: TriggeredCard): void {
    waiting.delete(card.id);
    if (!gate.isOpen(card) || !display.present(card)) return;
    gate.pass(card);
    memory.setCount(card.id, 0);
    limited.add(card);
  }

  /** Counts an occurrence, and shows the card with the last one. */
  function count(card: TriggeredCard): void {
    const { id, trigger } = card;
    const occurred = Math.min(memory.countOf(id) + 1, trigger.count);
    memory.setCount(id, occurred);
    if (occurred < trigger.count || waiting.has(id) || !gate.isOpen(card)) return;
    if (trigger.delay_s > 0) waiting.set(id, setTimeout(notify, trigger.delay_s * 1000, show, card));
    else notify(show, card);
  }

  function occur(isHit: (card: TriggeredCard) => boolean): void {
    for (const card of memory.cards()) if (isOnPage(card.trigger, url) && isHit(card)) count(card);
  }

  function lookAtPage(): void {
    occur(({ id, trigger }) => {
      const isHit = trigger.event === null && trigger.click === null && !counted.has(id);
      if (isHit) counted.add(id);
      return isHit;
    });
  }

  return {
    event(name, properties) {
      cancel(({ trigger }) => trigger.cancel_on.includes(name));
      occur(({ trigger }) => trigger.event === name && isMet(trigger, properties));
    },
    click: path => occur(({ trigger: { click } }) => click !== null && path.some(node => isSelected(node, click))),
    page(next) {
      if (next === url) return;
      url = next;
      counted.clear();
      cancel(({ trigger }) => !isOnPage(trigger, url));
      notify(limited.follow, url);
      lookAtPage();
    },
    lookAtPage,
    showDue() {
      for (const card of memory.cards())
        if (counted.has(card.id) && !waiting.has(card.id) && memory.countOf(card.id) >= card.trigger.count)
          notify(show, card);
    },
    keepOnly(ids) {
      cancel(({ id }) => !ids.includes(id));
      limited.keepOnly(ids);
    },
  };
}

/** Whether a selector selects a node; false for a selector that the browser does not support. */
function isSelected(node: EventTarget, selector: string): boolean {
  try {
    return node instanceof Element && node.matches(selector);
  } catch {
    return false;
  }
}
