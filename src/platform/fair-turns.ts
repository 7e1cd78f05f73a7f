export interface TurnLimits {
  /** Slots in total. */
  slots: number;
  /** Slots that one key may hold. */
  perKey: number;
  /** Maximum number of waiting callers per key, and in total. */
  maxWaitingPerKey: number;
  maxWaiting: number;
  /** A key served before all others and not limited by `perKey`. */
  priorityKey?: string;
}

/** Assigns a fixed number of slots to keys in turn. Has no timers and no promises. */
export interface FairTurns<Caller> {
  /** Assigns a slot to a key. False when all its slots are used, or when callers of the key are waiting. */
  start(key: string): boolean;
  /** Whether one more caller of the key may wait. */
  mayWait(key: string): boolean;
  wait(key: string, caller: Caller): void;
  /** Removes a waiting caller. */
  leave(key: string, caller: Caller): void;
  /** Frees a slot of a key. */
  end(key: string): void;
  /** Assigns a free slot to the waiting caller whose turn it is; undefined when every waiting key is at its limit. */
  next(): { key: string; caller: Caller } | undefined;
  /** The number of used slots and of waiting callers. */
  count(): { running: number; waiting: number };
}

/**
 * No key holds more than `perKey` slots, and free slots go to the keys in turn, so that a long queue of one key does not
 * delay the others.
 */
export function createFairTurns<Caller>(limits: TurnLimits): FairTurns<Caller> {
  const { slots, perKey, maxWaitingPerKey, maxWaiting, priorityKey } = limits;
  const running = new Map<string, number>();
  /** The queues in the order of their turns. */
  const queues = new Map<string, Caller[]>();
  let runningTotal = 0;
  let waitingTotal = 0;

  const mayRun = (key: string): boolean =>
    runningTotal < slots && (key === priorityKey || (running.get(key) ?? 0) < perKey);

  const take = (key: string): void => {
    running.set(key, (running.get(key) ?? 0) + 1);
    runningTotal++;
  };

  const nextKey = (): string | undefined =>
    priorityKey !== undefined && queues.has(priorityKey) ? priorityKey : queues.keys().find(mayRun);

  const remove = (key: string, queue: Caller[], place: number): Caller => {
    const [removed] = queue.splice(place, 1);
    if (queue.length === 0) queues.delete(key);
    waitingTotal--;
    return removed as Caller;
  };

  return {
    start(key) {
      if (queues.has(key) || !mayRun(key)) return false;
      take(key);
      return true;
    },
    mayWait: key => waitingTotal < maxWaiting && (queues.get(key)?.length ?? 0) < maxWaitingPerKey,
    wait(key, caller) {
      const queue = queues.get(key);
      if (queue) queue.push(caller);
      else queues.set(key, [caller]);
      waitingTotal++;
    },
    leave(key, caller) {
      const queue = queues.get(key);
      const place = queue?.indexOf(caller) ?? -1;
      if (queue && place >= 0) remove(key, queue, place);
    },
    end(key) {
      const left = (running.get(key) ?? 0) - 1;
      if (left > 0) running.set(key, left);
      else running.delete(key);
      runningTotal--;
    },
    next() {
      const key = runningTotal < slots ? nextKey() : undefined;
      const queue = key === undefined ? undefined : queues.get(key);
      if (key === undefined || !queue) return undefined;
      const caller = remove(key, queue, 0);
      if (queues.delete(key)) queues.set(key, queue); // moves it behind all others
      take(key);
      return { key, caller };
    },
    count: () => ({ running: runningTotal, waiting: waitingTotal }),
  };
}
