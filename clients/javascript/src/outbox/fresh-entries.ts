import type { Owner } from '../tokens.ts';
import type { NewAnswer } from '../types.ts';
import type { Entry } from './storage.ts';

/** Entries that this page recorded and that have no receipt. They are sent even if the storage fails. */
export interface FreshEntries {
  add(answer: NewAnswer, owner: Owner, now: number): void;
  /** Notes that this revision is in the storage. */
  noteStored(entry: Entry): void;
  all(): Entry[];
  /** Entries whose latest revision is in the storage. */
  stored(): Entry[];
  /** Entries whose latest revision is only in memory. */
  unstored(): Entry[];
  remove(id: string): void;
  /** Removes an entry unless a newer revision was recorded. */
  removeConfirmed(entry: Entry): void;
}

/** Creates an empty memory of entries. */
export function createFreshEntries(): FreshEntries {
  const fresh = new Map<string, { entry: Entry; isStored: boolean }>();
  const some = (...states: boolean[]) =>
    [...fresh.values()].filter(({ isStored }) => states.includes(isStored)).map(({ entry }) => entry);
  return {
    add(answer, owner, now) {
      const before = fresh.get(answer.id)?.entry;
      if (before && before.answer.revision >= answer.revision) return;
      const entry = { ...owner, id: answer.id, recordedAt: now, place: now, ...before, answer };
      fresh.set(answer.id, { entry, isStored: false });
    },
    noteStored({ id, answer }) {
      const known = fresh.get(id);
      if (known?.entry.answer === answer) known.isStored = true;
    },
    all: () => some(true, false),
    stored: () => some(true),
    unstored: () => some(false),
    remove: id => void fresh.delete(id),
    removeConfirmed({ id, answer }) {
      if ((fresh.get(id)?.entry.answer.revision ?? 0) <= answer.revision) fresh.delete(id);
    },
  };
}

/** Combines entries by id, oldest first; of two, the one with the higher revision and the position of the first. */
export function combine(stored: Entry[], others: Entry[]): Entry[] {
  const all = new Map(stored.map(entry => [entry.id, entry]));
  for (const entry of others) {
    const known = all.get(entry.id);
    if (!known || known.answer.revision < entry.answer.revision)
      all.set(entry.id, { ...entry, ...known, answer: entry.answer });
  }
  return [...all.values()].sort((a, b) => a.place - b.place);
}
