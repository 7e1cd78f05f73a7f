import { ParleyError } from '../errors.ts';
import { within } from '../limit.ts';
import { createQueue, type Entry, memoryStorage, type OutboxStorage, type UnreadEntry } from './storage.ts';

const STORE = 'answers';
/** Maximum duration of an operation. A database may stop answering when the page was in the background. */
const LONGEST_MS = 5000;

const settled = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

const committed = (transaction: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });

function openDatabase(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => void request.result.createObjectStore(STORE, { keyPath: 'id' });
  return settled(request).then(database => {
    database.onversionchange = () => database.close(); // another page deletes it
    return database;
  });
}

/** Reads all entries. If that fails, one by one: Chromium keeps large ones in separate files, which may be lost. */
async function readAll(database: IDBDatabase): Promise<(Entry | UnreadEntry)[]> {
  const store = () => database.transaction(STORE).objectStore(STORE);
  try {
    return await settled(store().getAll());
  } catch {
    const ids = await settled(store().getAllKeys());
    const read = async (id: string): Promise<Entry | UnreadEntry | undefined> => {
      try {
        return await settled(store().get(id));
      } catch (failure) {
        return { id, failure };
      }
    };
    return (await Promise.all((ids as string[]).map(read))).filter(entry => entry !== undefined);
  }
}

/** Web Locks across all tabs of an origin; in-page locks in browsers without them, or where they are denied. */
function createLock(name: string): OutboxStorage['exclusively'] {
  const { locks } = navigator as { locks?: LockManager };
  const queue = createQueue();
  if (!locks) return queue;
  return async <T>(part: string, work: () => Promise<T>) => {
    let isHeld = false;
    const run = (): Promise<T> => {
      isHeld = true;
      return work();
    };
    try {
      return (await locks.request(`${name}/${part}`, run)) as T;
    } catch (error) {
      if (isHeld) throw error;
      return queue(part, work); // a sandboxed frame: two tabs may send an answer twice, which the server treats as one
    }
  };
}

/** Runs work with a database, which is opened again if the browser has closed it or it does not answer. */
function createConnection(name: string) {
  let opening: Promise<IDBDatabase> | undefined;
  const connect = (): Promise<IDBDatabase> => {
    opening ??= openDatabase(name);
    return opening;
  };
  const attempt = <T>(work: (database: IDBDatabase) => Promise<T>): Promise<T> =>
    within(LONGEST_MS, connect().then(work), 'The storage did not answer');
  return async <T>(work: (database: IDBDatabase) => Promise<T>): Promise<T> => {
    const used = opening;
    try {
      return await attempt(work);
    } catch (error) {
      if (opening === used || used === undefined) opening = undefined; // another operation may have opened it again
      if (used === undefined) throw error; // it was opened by this operation
      return attempt(work);
    }
  };
}

/**
 * Creates a storage in IndexedDB, safe across tabs; in memory if IndexedDB is unavailable, as in some private windows.
 *
 * `name` separates several Parley installations used by one origin.
 */
export function browserStorage(name = 'parley-outbox'): OutboxStorage {
  if (!('indexedDB' in globalThis)) return memoryStorage(); // not read: some browsers throw if storage is denied
  const memory = memoryStorage();
  const withDatabase = createConnection(name);
  /** Whether the browser denies the database: answers are lost with the page. */
  let isDenied: Promise<boolean> | undefined;

  async function run<T>(work: (database: IDBDatabase) => Promise<T>, inMemory: () => Promise<T>): Promise<T> {
    isDenied ??= withDatabase(async () => false).catch(error => {
      if (!(error instanceof ParleyError)) return true;
      isDenied = undefined; // it did not answer in time, and may do so later
      throw error;
    });
    return (await isDenied) ? inMemory() : withDatabase(work);
  }
  const write = (change: (store: IDBObjectStore) => void) => async (database: IDBDatabase) => {
    const transaction = database.transaction(STORE, 'readwrite', { durability: 'strict' });
    change(transaction.objectStore(STORE));
    await committed(transaction);
  };
  return {
    list: () => run<(Entry | UnreadEntry)[]>(readAll, memory.list as () => Promise<Entry[]>),
    put: entry =>
      run(
        write(store => store.put(entry)),
        () => memory.put(entry),
      ),
    remove: id =>
      run(
        write(store => store.delete(id)),
        () => memory.remove(id),
      ),
    exclusively: createLock(name),
  };
}
