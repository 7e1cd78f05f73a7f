import { ParleyError } from '../errors.ts';
import { isSameOwner, type Owner } from '../tokens.ts';
import type { NewAnswer, Receipt } from '../types.ts';
import { type Change, changesBySettling, changesToRecord } from './changes.ts';
import { combine, createFreshEntries, type FreshEntries } from './fresh-entries.ts';
import { type Entry, isReadable, type OutboxStorage } from './storage.ts';

/** An answer that is given up; only its id is known if its entry cannot be read. */
export type LostAnswer = Partial<NewAnswer> & Pick<NewAnswer, 'id'>;

/** Entries at hand, oldest first; `failure` if the storage could not be read or changed. */
export interface AtHand {
  entries: Entry[];
  failure: ParleyError | undefined;
}

export interface Entries {
  /** Entries of all users, oldest first. Throws `storage-failed`. */
  list(): Promise<Entry[]>;
  /** Like `list`; if the storage fails, the entries in memory. Finishes earlier changes, and sets damaged entries aside. */
  atHand(): Promise<AtHand>;
  /** Throws `storage-failed` if the answer is only in memory. It is then sent like the others. */
  record(answer: NewAnswer, owner: Owner): Promise<void>;
  /** Removes entries with a receipt unless a newer revision was recorded. Returns whether all had one. */
  settle(batch: Entry[], receipts: Receipt[]): Promise<boolean>;
  /** Entries of a user that this page recorded and that have no receipt. Does not read the disk. */
  unsettled(owner: Owner): Entry[];
}

type OnLost = (answer: LostAnswer, code: string) => void;

/** Changes the storage under its lock `write`, and reports answers that are given up. */
function createWriter(storage: Required<OutboxStorage>, fresh: FreshEntries, onLost: OnLost) {
  const readable = async (): Promise<Entry[]> => (await storage.list()).filter(isReadable);

  async function apply(change: Change): Promise<void> {
    if ('remove' in change) {
      await storage.remove(change.remove.id);
      if (change.code !== undefined) fresh.remove(change.remove.id);
      return;
    }
    await storage.put(change.put);
    fresh.noteStored(change.put);
  }

  return {
    readable,
    /** Changes the stored entries; returns the changes. */
    update: (changesOf: (stored: Entry[]) => Change[]): Promise<Change[]> =>
      storage.exclusively('write', async () => {
        const changes = changesOf(await readable());
        for (const change of changes) await apply(change);
        return changes;
      }),
    /** Reports the answers that are given up. */
    report(changes: Change[]): void {
      for (const change of changes)
        if ('remove' in change && change.code !== undefined) onLost(change.remove.answer, change.code);
    },
  };
}

/** Opens the entries of an outbox. All changes of the storage are made under its lock `write`. */
export function openEntries(storage: Required<OutboxStorage>, now: () => number, onLost: OnLost): Entries {
  const fresh = createFreshEntries();
  /** Revisions with a receipt that are still stored, because the storage failed. */
  const settled = new Map<string, number>();

  const isWaiting = ({ id, answer }: Entry): boolean => answer.revision > (settled.get(id) ?? 0);
  const { readable, update, report } = createWriter(storage, fresh, onLost);

  /** Removes what could not be removed earlier, and sets damaged entries aside. */
  async function tidy(): Promise<void> {
    const damaged = await storage.exclusively('write', async () => {
      const stored = await storage.list();
      for (const entry of stored.filter(isReadable)) if (!isWaiting(entry)) await storage.remove(entry.id);
      settled.clear();
      const broken = stored.filter(each => !isReadable(each));
      for (const { id } of broken) await storage.setAside(id);
      return broken;
    });
    for (const { id } of damaged) onLost({ id }, 'outbox-unreadable');
  }

  return {
    list: async () => combine(await readable(), fresh.unstored()).filter(isWaiting),

    async atHand() {
      const stored = fresh.stored();
      let known: Entry[] | undefined;
      let failure: ParleyError | undefined;
      try {
        const all = await storage.list();
        known = all.filter(isReadable);
        const ids = new Set(all.map(({ id }) => id));
        for (const { id } of stored) if (!ids.has(id)) fresh.remove(id); // another page has sent it
        if (known.length < all.length || settled.size > 0) await tidy();
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        failure = error;
      }
      const entries = combine(known ?? [], known ? fresh.unstored() : fresh.all()).filter(isWaiting);
      return { entries, failure };
    },

    async record(answer, owner) {
      fresh.add(answer, owner, now());
      const others = () => fresh.unstored().filter(({ id }) => id !== answer.id);
      report(await update(stored => changesToRecord(combine(stored, others()), answer, owner, now())));
    },

    async settle(batch, receipts) {
      const confirmed = batch.filter((_, index) => receipts[index]);
      /** The changes for entries that are still stored or in memory, which are then removed from memory. */
      const changesOf = (stored: Entry[]): Change[] => {
        const changes = changesBySettling(batch, receipts, combine(stored, fresh.all()));
        for (const entry of confirmed) fresh.removeConfirmed(entry);
        return changes;
      };
      let changes: Change[];
      try {
        changes = await update(changesOf);
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        for (const { id, answer } of confirmed) settled.set(id, Math.max(settled.get(id) ?? 0, answer.revision));
        changes = changesOf(batch); // the next flush removes them from the storage, and reports its failure
      }
      report(changes);
      return confirmed.length === batch.length;
    },

    unsettled: owner => fresh.all().filter(entry => isSameOwner(entry, owner)),
  };
}
