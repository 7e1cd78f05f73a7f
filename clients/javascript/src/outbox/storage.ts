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
}

/** Storage of an outbox. Entries are on disk when the promise of `put` resolves. */
export interface OutboxStorage {
  /** All entries, unordered. */
  list(): Promise<Entry[]>;
  /** Inserts or replaces an entry. */
  put(entry: Entry): Promise<void>;
  remove(id: string): Promise<void>;
  /** Runs work under a lock shared by all pages or processes that use the storage. */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T>;
}

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
