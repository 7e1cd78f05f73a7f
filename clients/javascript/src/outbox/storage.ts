import type { Owner } from '../tokens.ts';
import type { NewAnswer } from '../types.ts';

/** A stored answer with its owner. */
export interface Entry extends Owner {
  /** Answer id. */
  id: string;
  answer: NewAnswer;
  /** Time of the first revision in milliseconds since 1970. */
  recordedAt: number;
  /** Position in the queue; lower numbers are sent first. */
  place: number;
  /** When an answer that was refused on the way is tried again, in milliseconds since 1970. */
  nextTryAt?: number | undefined;
}

/** A stored entry that is no answer, such as a damaged file. */
export interface DamagedEntry {
  id: string;
}

/** A stored entry that cannot be read now, for example because too many files are open. It stays. */
export interface UnreadEntry {
  id: string;
  failure: unknown;
}

/** Storage of an outbox. Entries are on disk when the promise of `put` resolves. */
export interface OutboxStorage {
  /** All entries, unordered. One that cannot be read now does not keep the others back. */
  list(): Promise<(Entry | DamagedEntry | UnreadEntry)[]>;
  /** Inserts or replaces an entry. */
  put(entry: Entry): Promise<void>;
  remove(id: string): Promise<void>;
  /** Hides a damaged entry from `list` and keeps it for inspection; without this function it is removed. */
  setAside?(id: string): Promise<void>;
  /** Runs work under a lock shared by all pages or processes that use the storage. */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** Whether a stored entry is complete. Unknown members are kept: a later version may have written it. */
export function isReadable(stored: Entry | DamagedEntry | UnreadEntry): stored is Entry {
  const { tenant, identity, place, answer } = stored as Partial<Entry>;
  return (
    typeof tenant === 'string' &&
    typeof identity === 'string' &&
    typeof place === 'number' &&
    answer?.id === stored.id &&
    typeof answer.revision === 'number'
  );
}

export const isUnread = (stored: Entry | DamagedEntry | UnreadEntry): stored is UnreadEntry => 'failure' in stored;

/** Runs work sequentially per name. */
export function createQueue(): OutboxStorage['exclusively'] {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const turn = (last.get(name) ?? Promise.resolve()).then(work, work);
    last.set(name, turn);
    return turn;
  };
}

/** Creates an in-memory storage; its entries are lost with the page. */
export function memoryStorage(): OutboxStorage {
  const entries = new Map<string, Entry>();
  return {
    list: async () => [...entries.values()],
    put: async entry => void entries.set(entry.id, entry),
    remove: async id => void entries.delete(id),
    exclusively: createQueue(),
  };
}
