import { draftsOf, namesOf, withDevice } from '../device.ts';
import { toJson } from '../json.ts';
import type { DraftState } from '../session/draft.ts';
import { isSupported } from '../session/steps.ts';
import { isSameOwner, type Owner } from '../tokens.ts';
import type { Card } from '../types.ts';
import type { CardInput } from './card-view.ts';
import { type Claim, claim } from './claim.ts';

/** Time after its last change for which a draft is shown again. */
const LIFE_MS = 15 * 60_000;

/** An answer that is not finished, on this device. */
export interface KeptDraft {
  owner: Owner;
  /** As it was displayed: the list no longer has it once a part of its answer is stored. */
  card: Card;
  answer: DraftState;
  input: CardInput;
}

/** Keeps the draft of one displayed card, which one page at a time may do. */
export interface Keeper {
  /** Stores the draft; without one removes it. */
  keep(draft: KeptDraft | undefined): void;
  /** Claims the draft. Resolves `false` if another page has it. */
  hold(): Promise<boolean>;
  /** Whether the draft on the device is still the one that this page stored or read. */
  isLatest(): boolean;
  /** Reads the draft, which this page has claimed, to go on with it. */
  read(): KeptDraft | undefined;
  /** Lets other pages have the draft. */
  release(): void;
  /** Removes the draft for good. */
  end(): void;
}

/** The drafts on this device of one installation. */
export interface Drafts {
  /** Those of a user, latest first. */
  of(owner: Owner): KeptDraft[];
  has(cardId: string): boolean;
  /** Name of a card's draft in `localStorage`. */
  nameOf(cardId: string): string;
  keeperOf(cardId: string): Keeper;
}

const readItem = (name: string): string | null => withDevice(storage => storage.getItem(name)) ?? null;
const writeItem = (name: string, text: string): boolean | undefined =>
  withDevice(storage => {
    storage.setItem(name, text);
    return true;
  });
const removeItem = (name: string): void => withDevice(storage => storage.removeItem(name));

/** Opens the drafts of an installation. Without a working storage, drafts end with the page. */
export function openDrafts(baseUrl: string, now: () => number): Drafts {
  const nameOf = (cardId: string) => draftsOf(baseUrl) + cardId;

  /** The draft with a name; one that is over or damaged is removed. */
  function readDraft(name: string): (KeptDraft & { at: number }) | undefined {
    try {
      const kept = JSON.parse(readItem(name) as string);
      const { at, owner, card, answer, input } = kept;
      const isYoung = Math.abs(now() - at) <= LIFE_MS; // false if it is no number
      const isLive = isYoung && !(card.expires_at && Date.parse(card.expires_at) <= now());
      const isWhole = nameOf(card.id) === name && owner && answer.id && answer.revision >= 0 && input.position;
      if (isLive && isWhole) return isSupported(card) ? kept : undefined; // a later version may support it
    } catch {
      // damaged or missing
    }
    removeItem(name);
    return undefined;
  }

  function keeperOf(cardId: string): Keeper {
    const name = nameOf(cardId);
    /** The draft as this page has stored or read it last. */
    let stored: string | null = null;
    let current: Claim | undefined;
    let isReleased = false;
    let isOver = false;
    const isLatest = () => readItem(name) === stored;
    const hold = (): Promise<boolean> => {
      isReleased = false;
      current ??= claim(name);
      return current.granted;
    };
    const release = () => {
      current?.release();
      current = undefined;
      isReleased = true;
    };
    /** Claims the draft before it is stored, which other pages notice. If another page has it, this one stops keeping it. */
    async function claimFirst(): Promise<void> {
      const held = hold();
      const mine = current;
      if (!(await held) && current === mine) isOver = true;
    }
    return {
      hold,
      release,
      isLatest,
      read() {
        const kept = readDraft(name);
        stored = readItem(name);
        return kept;
      },
      keep(draft) {
        if (isOver || (!draft && stored === null) || !isLatest()) return;
        if (draft && !isReleased) void claimFirst(); // a page that is left saves more than once
        const isWritten = draft && writeItem(name, toJson({ ...draft, at: now() }));
        if (!isWritten) removeItem(name); // on a full device an older revision is left
        stored = readItem(name);
      },
      end() {
        if (isLatest()) removeItem(name);
        isOver = true;
        release();
      },
    };
  }

  return {
    of: owner =>
      namesOf(draftsOf(baseUrl))
        .map(readDraft)
        .filter(kept => kept !== undefined)
        .filter(kept => isSameOwner(kept.owner, owner))
        .sort((a, b) => b.at - a.at),
    has: cardId => readDraft(nameOf(cardId)) !== undefined,
    nameOf,
    keeperOf,
  };
}
