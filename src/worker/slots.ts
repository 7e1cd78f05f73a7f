import { createFairTurns } from '../platform/fair-turns.ts';

/** A limited number of slots, assigned to keys in turn. */
export interface Slots {
  /** Runs work in a slot, once one is free and the key holds fewer than its share. */
  use<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createSlots(slots: number, perKey: number): Slots {
  const unlimited = { maxWaiting: Number.POSITIVE_INFINITY, maxWaitingPerKey: Number.POSITIVE_INFINITY };
  const turns = createFairTurns<() => void>({ slots, perKey, ...unlimited });
  return {
    async use(key, work) {
      if (!turns.start(key)) await new Promise<void>(turn => turns.wait(key, turn));
      try {
        return await work();
      } finally {
        turns.end(key);
        for (let next = turns.next(); next; next = turns.next()) next.caller();
      }
    },
  };
}
