import { ParleyError, reasonOf } from '../errors.ts';
import { within } from '../limit.ts';
import type { OutboxStorage } from './storage.ts';

/** Ends when the page that was left is shown again, if the browser keeps it for Back. */
let absence: Promise<unknown> | undefined;
globalThis.addEventListener?.(
  'pagehide',
  ({ persisted }) => {
    if (persisted) absence = new Promise(resolve => addEventListener('pageshow', resolve, { once: true }));
  },
  true,
);

export function storageFailed(cause: unknown): ParleyError {
  if (cause instanceof ParleyError && cause.kind !== 'no-reply') return cause;
  return new ParleyError('storage-failed', `The storage of the outbox failed: ${reasonOf(cause)}`, {
    retryable: true,
    cause,
  });
}

/** A storage whose operations end in limited time, and fail as `storage-failed`. A lock is not held by work that waits for it. */
export function boundStorage(storage: OutboxStorage, limit: number): Required<OutboxStorage> {
  async function bounded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await within(limit, work(), 'The storage did not answer');
    } catch (error) {
      throw storageFailed(error);
    }
  }

  /**
   * Waits for the lock in limited time. The work itself is not limited here. Chromium drops a page that was left and then
   * gets a lock, instead of keeping it for Back.
   */
  async function exclusively<T>(name: string, work: () => Promise<T>): Promise<T> {
    await absence;
    let result: Promise<T> | undefined;
    let isGivenUp = false;
    const started = new Promise<void>((resolve, reject) => {
      const run = async () => {
        if (isGivenUp) return;
        result = work();
        resolve();
        await result.catch(() => undefined); // holds the lock until the work ends; the caller of `exclusively` receives the error
      };
      storage.exclusively(name, run).catch(reject);
    });
    return bounded(() => started).then(
      () => result as Promise<T>,
      error => {
        isGivenUp = true;
        throw error;
      },
    );
  }

  return {
    list: () => bounded(() => storage.list()),
    put: entry => bounded(() => storage.put(entry)),
    remove: id => bounded(() => storage.remove(id)),
    setAside: id => bounded(() => storage.setAside?.(id) ?? storage.remove(id)),
    exclusively,
  };
}
