import { ParleyError } from '../errors.ts';
import { isSameOwner, type Owner } from '../tokens.ts';
import type { NewAnswer, Receipt } from '../types.ts';
import { storageFailed } from './bounded-storage.ts';
import { type Change, changesByRefusal, changesBySettling, changesToRecord } from './changes.ts';
import { combine, createFreshEntries, type FreshEntries } from './fresh-entries.ts';
import { createApart, isOver, RETRY_MS, refused, rejected } from './refusals.ts';
import { type Entry, isReadable, isUnread, type OutboxStorage } from './storage.ts';

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
  /** Sets the next try of an entry that was refused on the way; after 30 days, the entry is given up. */
  refuse(entry: Entry, cause: ParleyError): Promise<void>;
  /** Entries of a user that this page recorded and that have no receipt. Does not read the disk. */
  unsettled(owner: Owner): Entry[];
}

type OnLost = (answer: LostAnswer, code: string) => void;
type OnRefused = (answer: NewAnswer, error: ParleyError) => void;

/** Changes the storage under its lock `write`, and reports answers that are given up. */
function createWriter(storage: Required<OutboxStorage>, fresh: FreshEntries, onLost: OnLost) {
  const readable = async (): Promise<Entry[]> => (await storage.list()).filter(isReadable);
  /** Throws `storage-failed` if an entry cannot be read now. */
  async function all(): Promise<Entry[]> {
    const stored = await storage.list();
    const [unread] = stored.filter(isUnread);
    if (unread) throw storageFailed(unread.failure);
    return stored.filter(isReadable);
  }

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
    all,
    /** Changes the stored entries; returns the changes. */
    update: (changesOf: (stored: Entry[]) => Change[]): Promise<Change[]> =>
      storage.exclusively('write', async () => {
        const changes = changesOf(await readable());
        for (const change of changes) await apply(change);
        return changes;
      }),
    /** Removes what could not be removed earlier, calls `removed`, and sets damaged entries aside. */
    async tidy(isWaiting: (entry: Entry) => boolean, removed: () => void): Promise<void> {
      const damaged = await storage.exclusively('write', async () => {
        const stored = await storage.list();
        for (const entry of stored.filter(isReadable)) if (!isWaiting(entry)) await storage.remove(entry.id);
        removed();
        const broken = stored.filter(each => !isReadable(each) && !isUnread(each));
        for (const { id } of broken) await storage.setAside(id);
        return broken;
      });
      for (const { id } of damaged) onLost({ id }, 'outbox-unreadable');
    },
    /** Reports the answers that are given up. */
    report(changes: Change[]): void {
      for (const change of changes)
        if ('remove' in change && change.code !== undefined) onLost(change.remove.answer, change.code);
    },
  };
}

/** The content of a storage; `failure` if an entry cannot be read now. */
interface Found {
  known: Entry[];
  isDamaged: boolean;
  failure: ParleyError | undefined;
}

/** Reads the storage, and removes entries from memory that another page has sent. */
async function find(storage: OutboxStorage, fresh: FreshEntries): Promise<Found> {
  const stored = fresh.stored();
  const listed = await storage.list();
  const known = listed.filter(isReadable);
  const unread = listed.filter(isUnread);
  const ids = new Set(listed.map(({ id }) => id));
  for (const { id } of stored) if (!ids.has(id)) fresh.remove(id);
  return {
    known,
    isDamaged: known.length + unread.length < listed.length,
    failure: unread[0] && storageFailed(unread[0].failure),
  };
}

interface Refusing {
  writer: ReturnType<typeof createWriter>;
  apart: ReturnType<typeof createApart>;
  now: () => number;
  onRefused: OnRefused;
}

/** Returns a function that sets the next try of a refused entry, and reports the first refusal. */
function createRefuser({ writer, apart, now, onRefused }: Refusing) {
  return async (sent: Entry, cause: ParleyError): Promise<void> => {
    const nextTryAt = now() + RETRY_MS;
    const isFirst = apart.note(sent, nextTryAt);
    try {
      await writer.update(stored => changesByRefusal(sent, nextTryAt, stored));
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error; // the storage failed: `apart` has it, and the next flush reports the failure
    }
    if (isFirst) onRefused(sent.answer, refused(sent, cause));
  };
}

/** Opens the entries of an outbox. All changes of the storage are made under its lock `write`. */
export function openEntries(
  storage: Required<OutboxStorage>,
  now: () => number,
  onLost: OnLost,
  onRefused: OnRefused,
): Entries {
  const fresh = createFreshEntries();
  /** Revisions with a receipt that are still stored, because the storage failed. */
  const settled = new Map<string, number>();
  const apart = createApart();
  const isWaiting = ({ id, answer }: Entry): boolean => answer.revision > (settled.get(id) ?? 0);
  const writer = createWriter(storage, fresh, onLost);
  const { all, update, tidy, report } = writer;
  const waitApart = createRefuser({ writer, apart, now, onRefused });

  async function giveUp(sent: Entry): Promise<void> {
    await entries.settle([sent], [rejected(sent, 'refused')]);
  }
  const entries: Entries = {
    list: async () =>
      combine(await all(), fresh.unstored())
        .filter(isWaiting)
        .map(apart.withTry),

    async atHand() {
      let found: Found | undefined;
      let failure: ParleyError | undefined;
      try {
        found = await find(storage, fresh);
        failure = found.failure;
        if (found.isDamaged || settled.size > 0) await tidy(isWaiting, () => settled.clear());
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        failure = error;
      }
      const waiting = combine(found?.known ?? [], found && !found.failure ? fresh.unstored() : fresh.all());
      return { entries: waiting.filter(isWaiting).map(apart.withTry), failure };
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
      for (const { id } of confirmed) apart.forget(id);
      return confirmed.length === batch.length;
    },

    refuse: (sent, cause) => (isOver(sent, now()) ? giveUp(sent) : waitApart(sent, cause)),

    unsettled: owner =>
      fresh
        .all()
        .map(apart.withTry)
        .filter(entry => isSameOwner(entry, owner) && entry.nextTryAt === undefined),
  };
  return entries;
}
