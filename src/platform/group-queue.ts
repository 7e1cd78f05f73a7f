/** An item that waits for its group. */
export interface Queued {
  weights: number[];
  /** When it was added, by the caller's clock in milliseconds. */
  addedAt: number;
}

export interface GroupQueueOptions {
  /** Maximum number of groups in progress. */
  maxInFlight: number;
  /** The maximum of each weight per group. A heavier item forms a group of one. */
  maxWeights: number[];
  /** Minimum time between the starts of two groups that are not full, in milliseconds. */
  spacingMs: number;
}

/** Decides which waiting items form the next group, and when it starts. Performs no I/O and reads no clock. */
export interface GroupQueue<Item extends Queued> {
  add(item: Item): void;
  /**
   * Returns the time until the next group may start, in milliseconds: 0 if it may start now, infinity if it has to wait
   * until a group in progress ends or more items arrive.
   */
  delayMs(inFlight: number, now: number): number;
  /** Removes the next group and returns it. It is considered started. */
  take(now: number): Item[];
  /** How long the next item has waited, in milliseconds; 0 without one. */
  waitedMs(now: number): number;
  readonly length: number;
}

/** Creates an empty queue. */
export function createGroupQueue<Item extends Queued>(options: GroupQueueOptions): GroupQueue<Item> {
  const { maxInFlight, maxWeights, spacingMs } = options;
  let items: Item[] = [];
  /** The number of items in the last group that started. */
  let lastCount = 0;
  let startedAt = Number.NEGATIVE_INFINITY;
  /** The total weights of waiting items. */
  const waiting = maxWeights.map(() => 0);

  const addTo = (totals: number[], weights: number[], sign: 1 | -1) => {
    for (let index = 0; index < totals.length; index++)
      totals[index] = (totals[index] ?? 0) + sign * (weights[index] ?? 0);
  };

  const exceeds = (totals: number[]): boolean => totals.some((total, index) => total > (maxWeights[index] ?? 0));

  /** The number of waiting items that fit into one group. */
  const countFitting = (): number => {
    if (!exceeds(waiting)) return items.length;
    const totals = maxWeights.map(() => 0);
    const first = items.findIndex(({ weights }, place) => {
      addTo(totals, weights, 1);
      return place > 0 && exceeds(totals);
    });
    return first < 0 ? items.length : first;
  };

  return {
    add(item) {
      items.push(item);
      addTo(waiting, item.weights, 1);
    },
    delayMs(inFlight, now) {
      if (inFlight >= maxInFlight || items.length === 0) return Number.POSITIVE_INFINITY;
      if (exceeds(waiting)) return 0;
      // A group smaller than the last one costs as much for few items: items that arrive meanwhile join it.
      if (inFlight > 0 && items.length < lastCount) return Number.POSITIVE_INFINITY;
      return Math.max(0, startedAt + spacingMs - now);
    },
    take(now) {
      startedAt = now;
      lastCount = countFitting();
      const group = items.slice(0, lastCount);
      items = items.slice(lastCount);
      for (const { weights } of group) addTo(waiting, weights, -1);
      return group;
    },
    waitedMs: now => (items[0] ? now - items[0].addedAt : 0),
    get length() {
      return items.length;
    },
  };
}
