/** A limited number of slots, assigned in the order in which they were asked for. */
export interface Slots {
  /** Runs work in a slot, once one is free. */
  use<T>(work: () => Promise<T>): Promise<T>;
}

export function createSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];
  return {
    async use(work) {
      if (free > 0) free--;
      else await new Promise<void>(turn => waiting.push(turn));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else free++;
      }
    },
  };
}
