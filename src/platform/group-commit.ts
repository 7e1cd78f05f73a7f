import { createGroupQueue, type Queued } from './group-queue.ts';
import type { GroupSpans } from './spans.ts';

/** Batches work: items that arrive while earlier groups are in progress form the next group. */
export interface GroupCommit<Item, Result> {
  /** Resolves with the item's result when its group is done, or rejects with the group's error. */
  add(item: Item): Promise<Result>;
  /** Resolves when all added items have ended. */
  drained(): Promise<void>;
  /** How long the next item has waited for its group to start, in milliseconds. */
  readonly waitedMs: number;
}

export interface GroupCommitOptions<Item, Result> {
  /** Processes a group and returns one result per item, in order. An error fails this group only. */
  flush(items: Item[]): Promise<Result[]>;
  /** Maximum number of groups in progress. */
  maxInFlight: number;
  /**
   * The weights of an item (answers, bytes), and the maximum of each per group. A heavier item forms a group of one.
   */
  weigh(item: Item): number[];
  maxWeights: number[];
  /**
   * Minimum time between the starts of two groups that are not full, in milliseconds (default 0). Use it where no
   * caller waits for the result and larger groups are worth a delay.
   */
  spacingMs?: number;
  /** Creates a span per group, with tracing. */
  spans?: GroupSpans | undefined;
}

interface Entry<Item, Result> extends Queued {
  item: Item;
  origin: ReturnType<GroupSpans['here']>;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * A group commit in which a lone item starts at once, and groups grow under load.
 *
 * Items are not delayed while no group is in progress: a timer would cost a lone caller its full length without a gain
 * under load (measured: 0.64 ms against 2.86 ms).
 */
export function createGroupCommit<Item, Result>(options: GroupCommitOptions<Item, Result>): GroupCommit<Item, Result> {
  const { flush, maxInFlight, weigh, maxWeights, spacingMs = 0, spans } = options;
  const queue = createGroupQueue<Entry<Item, Result>>({ maxInFlight, maxWeights, spacingMs });
  let inFlight = 0;
  let isScheduled = false;
  let spacing: NodeJS.Timeout | undefined;
  const idle: (() => void)[] = [];

  const run = async (group: Entry<Item, Result>[]) => {
    try {
      const flushGroup = () => flush(group.map(entry => entry.item));
      const results = await (spans?.run(
        group.map(entry => entry.origin),
        flushGroup,
      ) ?? flushGroup());
      for (const [index, entry] of group.entries()) entry.resolve(results[index] as Result);
    } catch (error) {
      for (const entry of group) entry.reject(error);
    }
  };

  const isIdle = () => inFlight === 0 && queue.length === 0;

  const start = () => {
    isScheduled = false;
    clearTimeout(spacing);
    spacing = undefined;
    for (;;) {
      const now = performance.now();
      const delayMs = queue.delayMs(inFlight, now);
      if (delayMs > 0) {
        if (Number.isFinite(delayMs)) spacing = setTimeout(start, delayMs);
        break;
      }
      inFlight++;
      void run(queue.take(now)).then(() => {
        inFlight--;
        start();
      });
    }
    if (isIdle()) for (const resolve of idle.splice(0)) resolve();
  };

  return {
    add: item =>
      new Promise((resolve, reject) => {
        const addedAt = performance.now();
        queue.add({ item, weights: weigh(item), addedAt, origin: spans?.here(), resolve, reject });
        if (isScheduled || inFlight >= maxInFlight) return;
        isScheduled = true;
        process.nextTick(start); // after all concurrent steps have come this far, so that their items form one group
      }),
    drained: () => (isIdle() ? Promise.resolve() : new Promise(resolve => idle.push(() => resolve()))),
    get waitedMs() {
      return queue.waitedMs(performance.now());
    },
  };
}
