import type { Delta, RateCounters } from './rate-counters.ts';

export interface ReconcilerOptions {
  counters: Pick<RateCounters, 'removeUnsent' | 'confirm' | 'decideLocally' | 'keep'>;
  /** Adds the units to the store. Returns the totals over all processes, in order. */
  add(deltas: Delta[]): Promise<readonly number[]>;
  /** Called with the error of each failed batch. */
  onFailure(error: Error): void;
  /** Runs a callback later. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** Sends the units counted in this process to the store, in batches. */
export interface Reconciler {
  /** Whether the store accepted the last batch in time. */
  isReachable(): boolean;
  /** Records a reply of the store to another request. */
  markReachable(): void;
  /**
   * Sends a batch, after the current one if there is one. Resolves when the first of them has ended; never rejects.
   *
   * Without `everyone`, sends only counters with waiting requests or close to their limit.
   */
  reconcile(everyone: boolean): Promise<void>;
  /** Decides every waiting request by this process's own count, and sends no further batch. */
  close(): void;
}

/** How long a request waits for the store's total before this process decides by its own count. */
const SETTLE_TIMEOUT_MS = 300;

/**
 * Keeps one batch in progress at a time. Requests that arrive during a batch wait for the next one.
 *
 * A batch that takes too long or fails decides its requests by this process's own count; the units of a failed one are
 * sent again with a later batch.
 */
export function createReconciler({ counters, add, onFailure, after }: ReconcilerOptions): Reconciler {
  let isReachable = false;
  let isClosed = false;
  /** The batch that follows the current one: of some counters, of all, or none. */
  let wanted: 'some' | 'all' | undefined;
  let sending: Promise<void> | undefined;

  const decideWithoutStore = (deltas: Delta[]): void => {
    isReachable = false;
    counters.decideLocally(deltas);
  };

  const send = async (everyone: boolean): Promise<void> => {
    const deltas = counters.removeUnsent(everyone);
    if (deltas.length === 0 && isReachable) return; // while it is unreachable, an empty batch fetches its time
    const cancel = after(SETTLE_TIMEOUT_MS, () => decideWithoutStore(deltas));
    try {
      const totals = await add(deltas);
      isReachable = true;
      counters.confirm(deltas, totals);
    } catch (error) {
      counters.keep(deltas);
      decideWithoutStore(deltas);
      onFailure(error as Error);
    } finally {
      cancel();
    }
  };

  const reconcile = (everyone: boolean): Promise<void> => {
    if (sending) {
      wanted = everyone || wanted === 'all' ? 'all' : 'some';
      return sending;
    }
    sending = send(everyone).then(() => {
      const next = wanted;
      sending = wanted = undefined;
      if (next && !isClosed) void reconcile(next === 'all');
    });
    return sending;
  };

  return {
    isReachable: () => isReachable,
    markReachable() {
      isReachable = true;
    },
    reconcile,
    close() {
      isClosed = true;
      decideWithoutStore([]);
    },
  };
}
