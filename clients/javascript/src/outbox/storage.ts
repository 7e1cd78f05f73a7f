import type { Owner } from '../tokens.ts';
import type { NewAnswer } from '../types.ts';

/** An answer that waits to be sent, with whose it is. */
export interface Entry extends Owner {
  /** The id of the answer. */
  id: string;
  answer: NewAnswer;
  /** When its first revision was recorded, in milliseconds since 1970. */
  recordedAt: number;
  /** Its place: earlier numbers are sent first. */
  place: number;
}

/** Where an outbox keeps its entries. What was put is on disk when the promise resolves. */
export interface OutboxStorage {
  /** All entries, in whatever order. */
  list(): Promise<Entry[]>;
  /** Puts an entry in place of one with the same id. */
  put(entry: Entry): Promise<void>;
  remove(id: string): Promise<void>;
  /** Runs work while no other page or process that shares the storage runs work under that name. */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** Runs pieces of work one after the other, by name. */
export function createQueue(): OutboxStorage['exclusively'] {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const turn = (last.get(name) ?? Promise.resolve()).then(work, work);
    last.set(name, turn);
    return turn;
  };
}

/** A storage that ends with the page, for where there is nothing better. */
export function memoryStorage(): OutboxStorage {
  const entries = new Map<string, Entry>();
  return {
    list: async () => [...entries.values()],
    put: async entry => void entries.set(entry.id, entry),
    remove: async id => void entries.delete(id),
    exclusively: createQueue(),
  };
}
