/** Why a slot was refused: too many callers are waiting, or the wait took too long. */
export type ShareRefusal = 'full' | 'timeout';

export interface FairShareOptions {
  /** Slots in total. */
  slots: number;
  /** Slots that one key may hold. */
  perKey: number;
  /** Maximum number of waiting callers per key, and in total. */
  maxWaitingPerKey: number;
  maxWaiting: number;
  /** Maximum wait in milliseconds. */
  maxWaitMs: number;
  /** A key served before all others and not limited by `perKey`. */
  priorityKey?: string;
  /** Creates the error for a refused caller. */
  refuse(reason: ShareRefusal): Error;
}

/** Releases the slot. */
export type Release = () => void;

/** A fixed number of slots, shared fairly between keys. */
export interface FairShare {
  /**
   * Acquires a slot, synchronously if one is free. Rejects or throws `refuse(…)` when too many are waiting, or after
   * too long.
   */
  acquire(key: string): Release | Promise<Release>;
  /** Runs `work` while holding a slot. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** The number of used slots and of waiting callers. */
  count(): { running: number; waiting: number };
}

interface Waiting {
  resolve(release: Release): void;
  timer: NodeJS.Timeout;
}

/**
 * Shares slots between keys. No key holds more than `perKey`, and released slots go to the keys in turn, so that a long
 * queue of one key does not delay the others.
 */
export function createFairShare(options: FairShareOptions): FairShare {
  const { slots, perKey, maxWaitingPerKey, maxWaiting, maxWaitMs, priorityKey, refuse } = options;
  const running = new Map<string, number>();
  /** The queues in the order of their turns. */
  const queues = new Map<string, Waiting[]>();
  let runningTotal = 0;
  let waitingTotal = 0;

  const mayRun = (key: string): boolean =>
    runningTotal < slots && (key === priorityKey || (running.get(key) ?? 0) < perKey);

  const start = (key: string): Release => {
    running.set(key, (running.get(key) ?? 0) + 1);
    runningTotal++;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const left = (running.get(key) ?? 0) - 1;
      if (left > 0) running.set(key, left);
      else running.delete(key);
      runningTotal--;
      grant();
    };
  };

  const nextKey = (): string | undefined => {
    if (priorityKey !== undefined && queues.has(priorityKey)) return priorityKey;
    return queues.keys().find(mayRun);
  };

  const remove = (key: string, queue: Waiting[], place: number): Waiting | undefined => {
    const [removed] = queue.splice(place, 1);
    if (queue.length === 0) queues.delete(key);
    waitingTotal--;
    return removed;
  };

  const grant = () => {
    while (runningTotal < slots) {
      const key = nextKey();
      const queue = key !== undefined && queues.get(key);
      if (!queue) return;
      const first = remove(key, queue, 0);
      if (queues.delete(key)) queues.set(key, queue); // moves it behind all others
      clearTimeout(first?.timer);
      first?.resolve(start(key));
    }
  };

  const wait = (key: string): Promise<Release> =>
    new Promise((resolve, reject) => {
      const queue = queues.get(key) ?? [];
      queues.set(key, queue);
      const waiting: Waiting = {
        resolve,
        timer: setTimeout(() => {
          remove(key, queue, queue.indexOf(waiting));
          reject(refuse('timeout'));
        }, maxWaitMs),
      };
      queue.push(waiting);
      waitingTotal++;
    });

  const acquire = (key: string): Release | Promise<Release> => {
    const queued = queues.get(key)?.length ?? 0;
    if (queued === 0 && mayRun(key)) return start(key);
    if (queued >= maxWaitingPerKey || waitingTotal >= maxWaiting) throw refuse('full');
    return wait(key);
  };

  return {
    acquire,
    async run(key, work) {
      const release = await acquire(key);
      try {
        return await work();
      } finally {
        release();
      }
    },
    count: () => ({ running: runningTotal, waiting: waitingTotal }),
  };
}
