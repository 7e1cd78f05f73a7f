import { toJson } from '../json.ts';
import { isSameOwner, type Owner } from '../tokens.ts';
import type { Card, Trigger } from '../types.ts';

export type TriggeredCard = Card & { trigger: Trigger };

/** Storage of texts, such as `localStorage`. */
export interface TextStorage {
  getItem(name: string): string | null;
  setItem(name: string, text: string): void;
}

/** Maximum number of counts; the one that changed longest ago is dropped. */
const MAX_COUNTS = 100;
const NAME = 'parley-triggers';

/** State that survives a restart. */
interface Remembered {
  /** The user of the cards. */
  owner?: Owner | undefined;
  cards: TriggeredCard[];
  /** Occurrences by card. Card ids are unique per user, so each user has counts of their own. */
  counts: Record<string, number>;
}

/** The cards at hand and the counts, on the device. */
export interface Memory {
  /** Cards with a trigger, of the last list. */
  cards(): TriggeredCard[];
  ownerOf(id: string): Owner | undefined;
  /** Whether the cards belong to another user. */
  isOfOther(owner: Owner | undefined): boolean;
  keep(owner: Owner | undefined, cards: TriggeredCard[]): void;
  countOf(id: string): number;
  setCount(id: string, count: number): void;
}

/** The browser's storage; undefined outside browsers, or if it is denied. */
function browserTexts(): TextStorage | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

/** Opens the memory in a storage; it lasts as long as the page if the storage is missing or fails. */
export function openMemory(storage = browserTexts()): Memory {
  let held: Remembered = { cards: [], counts: {} };
  /** Reads the changes of other tabs. */
  function read(): Remembered {
    try {
      const { owner, cards, counts } = JSON.parse(storage?.getItem(NAME) ?? 'null') ?? held;
      return { owner, cards: [...cards], counts: { ...counts } };
    } catch {
      return held; // damaged or denied
    }
  }
  function write(change: Partial<Remembered>): void {
    held = { ...held, counts: read().counts, ...change };
    try {
      storage?.setItem(NAME, toJson(held));
    } catch {
      // full or denied: it lasts as long as the page
    }
  }
  held = read();
  const countOf = (id: string): number => read().counts[id] ?? 0;
  return {
    cards: () => held.cards,
    ownerOf: id => (held.cards.some(card => card.id === id) ? held.owner : undefined),
    isOfOther: owner => Boolean(owner && held.owner && !isSameOwner(owner, held.owner)),
    keep: (owner, cards) => write({ owner, cards }),
    countOf,
    setCount(id, count) {
      const { [id]: _, ...others } = read().counts;
      const latest = Object.entries(others).slice(1 - MAX_COUNTS);
      write({ counts: Object.fromEntries(count > 0 ? [...latest, [id, count]] : latest) });
    },
  };
}
