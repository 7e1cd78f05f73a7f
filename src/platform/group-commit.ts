/** Work that leaves in groups: everything that arrives while earlier groups are on their way goes together. */
export interface GroupCommit<Item, Result> {
  /** Resolves with the item's own result when its group is done, or rejects with the group's failure. */
  add(item: Item): Promise<Result>;
  /** Resolves when everything that was added has ended. */
  drained(): Promise<void>;
  /** For how long the item that is next has waited for its group to start, in milliseconds. */
  readonly waitedMs: number;
}

export interface GroupCommitOptions<Item, Result> {
  /** Does a whole group and gives a result an item, in order. Its failure is the failure of exactly this group. */
  flush(items: Item[]): Promise<Result[]>;
  /** How many groups may be under way at once. */
  maxInFlight: number;
  /** The weights of an item (answers, bytes), and how much of each one group may hold. A heavier item goes alone. */
  weigh(item: Item): number[];
  maxWeights: number[];
  /**
   * The least time between the starts of two groups that are not full, in milliseconds; 0 by default. Where nobody waits
   * for the result, larger groups are worth a delay.
   */
  spacingMs?: number;
}

interface Entry<Item, Result> {
  item: Item;
  addedAt: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * A group commit in which a lone item leaves at once, and a busy process fills its groups by itself.
 *
 * It holds back no item that comes alone: a timer would cost a lone caller its whole length and gain a busy one nothing
 * (measured: 0.64 ms against 2.86 ms).
 */
export function createGroupCommit<Item, Result>(options: GroupCommitOptions<Item, Result>): GroupCommit<Item, Result> {
  let entries: Entry<Item, Result>[] = [];
  let inFlight = 0;
  let scheduled = false;
  let startedAt = Number.NEGATIVE_INFINITY;
  let spacing: NodeJS.Timeout | undefined;
  let idle: (() => void)[] = [];

  /** How many of the waiting items the next group takes, and whether it is full with them. */
  const measureGroup = (): { count: number; isFull: boolean } => {
    const totals = options.maxWeights.map(() => 0);
    for (const [count, { item }] of entries.entries()) {
      options.weigh(item).forEach((weight, index) => {
        totals[index] = (totals[index] ?? 0) + weight;
      });
      const isOver = totals.some((total, index) => total > (options.maxWeights[index] ?? 0));
      if (isOver && count > 0) return { count, isFull: true };
    }
    return { count: entries.length, isFull: false };
  };

  /** The next group; `undefined` while it is to wait for company. */
  const takeGroup = (): Entry<Item, Result>[] | undefined => {
    const { count, isFull } = measureGroup();
    const early = startedAt + (options.spacingMs ?? 0) - performance.now();
    if (!isFull && early > 0) {
      spacing ??= setTimeout(start, early);
      return undefined;
    }
    startedAt = performance.now();
    const group = entries.slice(0, count);
    entries = entries.slice(count);
    return group;
  };

  const run = async (group: Entry<Item, Result>[]) => {
    try {
      const results = await options.flush(group.map(entry => entry.item));
      for (const [index, entry] of group.entries()) entry.resolve(results[index] as Result);
    } catch (error) {
      for (const entry of group) entry.reject(error);
    }
  };

  const start = () => {
    scheduled = false;
    clearTimeout(spacing);
    spacing = undefined;
    while (inFlight < options.maxInFlight && entries.length > 0) {
      const group = takeGroup();
      if (!group) return;
      inFlight++;
      void run(group).then(() => {
        inFlight--;
        start();
      });
    }
    if (inFlight === 0 && entries.length === 0) {
      for (const resolve of idle) resolve();
      idle = [];
    }
  };

  return {
    add: item =>
      new Promise((resolve, reject) => {
        entries.push({ item, addedAt: performance.now(), resolve, reject });
        if (scheduled || inFlight >= options.maxInFlight) return;
        scheduled = true;
        setImmediate(start); // the next turn of the loop: requests that were read together leave together
      }),
    drained: () =>
      inFlight === 0 && entries.length === 0 ? Promise.resolve() : new Promise(resolve => idle.push(() => resolve())),
    get waitedMs() {
      return entries[0] ? performance.now() - entries[0].addedAt : 0;
    },
  };
}
