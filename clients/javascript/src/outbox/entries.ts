import { isSameOwner, type Owner } from '../tokens.ts';
import type { NewAnswer, Receipt } from '../types.ts';
import { type Change, changesByAge, changesBySettling, changesToRecord } from './changes.ts';
import type { Entry, OutboxStorage } from './storage.ts';

export interface Entries {
  /** Stored entries of all users, oldest first. */
  list(): Promise<Entry[]>;
  record(answer: NewAnswer, owner: Owner): Promise<void>;
  dropExpired(): Promise<void>;
  /** Removes entries with a receipt unless a newer revision was recorded. Returns whether all had one. */
  settle(batch: Entry[], receipts: Receipt[]): Promise<boolean>;
  /** Entries of a user that this page recorded and that have no receipt. Does not read the disk. */
  unsettled(owner: Owner): Entry[];
}

const byPlace = (a: Entry, b: Entry): number => a.place - b.place;

/** Opens the entries of an outbox. All changes of the storage are made under its lock `write`. */
export function openEntries(
  storage: OutboxStorage,
  now: () => number,
  onLost: (answer: NewAnswer, code: string) => void,
): Entries {
  /** Entries recorded by this page without a receipt. */
  const fresh = new Map<string, Entry>();
  const list = async (): Promise<Entry[]> => (await storage.list()).sort(byPlace);

  async function apply(change: Change): Promise<void> {
    if ('put' in change) return storage.put(change.put);
    await storage.remove(change.remove.id);
    if (change.code === undefined) return;
    fresh.delete(change.remove.id);
    onLost(change.remove.answer, change.code);
  }

  const update = (changesOf: (entries: Entry[]) => Change[]): Promise<void> =>
    storage.exclusively('write', async () => {
      for (const change of changesOf(await list())) await apply(change);
    });

  return {
    list,
    async record(answer, owner) {
      const before = fresh.get(answer.id);
      if (!before || before.answer.revision < answer.revision)
        fresh.set(answer.id, { ...owner, id: answer.id, answer, recordedAt: now(), place: now() });
      await update(entries => changesToRecord(entries, answer, owner, now()));
    },
    dropExpired: () => update(entries => changesByAge(entries, now())),
    async settle(batch, receipts) {
      const settled = batch.filter((_, index) => receipts[index]);
      await update(entries => {
        for (const { id, answer } of settled)
          if ((fresh.get(id)?.answer.revision ?? 0) <= answer.revision) fresh.delete(id);
        return changesBySettling(batch, receipts, entries);
      });
      return settled.length === batch.length;
    },
    unsettled: owner => [...fresh.values()].filter(entry => isSameOwner(entry, owner)),
  };
}
