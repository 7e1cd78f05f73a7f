import { createQueue, type Entry, memoryStorage, type OutboxStorage } from './storage.ts';

const STORE = 'answers';

const settled = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

const committed = (transaction: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });

function openDatabase(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => void request.result.createObjectStore(STORE, { keyPath: 'id' });
  return settled(request);
}

/** Web Locks across all tabs of an origin; in-page locks in browsers without them. */
function createLock(name: string): OutboxStorage['exclusively'] {
  const locks = (navigator as { locks?: LockManager }).locks;
  if (!locks) return createQueue();
  return <T>(part: string, work: () => Promise<T>) => locks.request(`${name}/${part}`, work) as Promise<T>;
}

/** Storage in IndexedDB, shared by all tabs of the origin. */
function createStorage(opening: Promise<IDBDatabase>, name: string): OutboxStorage {
  const write = async (change: (store: IDBObjectStore) => void): Promise<void> => {
    const transaction = (await opening).transaction(STORE, 'readwrite', { durability: 'strict' });
    change(transaction.objectStore(STORE));
    await committed(transaction);
  };
  return {
    list: async () => settled<Entry[]>((await opening).transaction(STORE).objectStore(STORE).getAll()),
    put: entry => write(store => store.put(entry)),
    remove: id => write(store => store.delete(id)),
    exclusively: createLock(name),
  };
}

/**
 * Creates a storage in IndexedDB, safe across tabs; in memory if IndexedDB is unavailable, as in some private windows.
 *
 * `name` separates several Parley installations used by one origin.
 */
export function browserStorage(name = 'parley-outbox'): OutboxStorage {
  if (typeof indexedDB === 'undefined') return memoryStorage();
  const memory = memoryStorage();
  const opening = openDatabase(name);
  const storage = opening.then(
    () => createStorage(opening, name),
    () => memory, // denied by the browser: answers are lost with the page
  );
  return {
    list: async () => (await storage).list(),
    put: async entry => (await storage).put(entry),
    remove: async id => (await storage).remove(id),
    exclusively: async (part, work) => (await storage).exclusively(part, work),
  };
}
