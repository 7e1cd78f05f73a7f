/** A limit on units (requests, or items of a batch) in windows that start at whole multiples of their length. */
export interface RateLimit {
  /** Name for headers and metrics: `identity`, `api-key`, `ip` … */
  readonly scope: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** The decision on one request: whether it is allowed, how many units are left in the window, and when it ends. */
export interface RateVerdict<Limit extends RateLimit = RateLimit> {
  limit: Limit;
  allowed: boolean;
  remaining: number;
  resetSeconds: number;
}

/** A request whose verdict needs the total of the shared store. */
export interface PendingVerdict<Limit extends RateLimit = RateLimit> {
  /** Resolves once the counter's next batch was confirmed by the store, or has failed. */
  readonly settled: Promise<RateVerdict<Limit>>;
}

/** An addition to a counter in the shared store, and the requests that wait for the new total. */
export interface Delta {
  readonly counter: Counter;
  readonly count: number;
  readonly tickets: Ticket[];
}

/** The units counted under one key of a limit in one window. */
export interface Counter {
  readonly limit: RateLimit;
  readonly key: string;
  /** End of the window in the store's time, in milliseconds. */
  readonly endsAt: number;
  /** The last known total over all processes, without `unsent`. */
  shared: number;
  /** Units counted by this process that the store has not confirmed; negative after a refund. */
  unsent: number;
  /** Whether the store has confirmed this counter once. */
  isStored: boolean;
  /** Requests whose units are in `unsent` and that wait for the store, in the order in which they were counted. */
  waiting: Ticket[];
}

interface Ticket {
  cost: number;
  counted: number;
  resolve(verdict: RateVerdict): void;
}

export interface RateCountersOptions {
  /** The store's time in milliseconds. */
  now: () => number;
  /** Whether requests may wait for the store: false while it is unreachable, and where limits only count. */
  mayWait: () => boolean;
  maxCounters?: number;
}

const MAX_COUNTERS = 200_000;
/**
 * The fraction of a limit that one process may grant before the store confirms it. With less than this left, it grants
 * only confirmed units.
 */
const MARGIN = 0.1;

/** Whether to sync the counter soon: from half the limit on. */
const isClose = ({ shared, unsent, limit }: Counter): boolean => shared + unsent >= limit.limit / 2;

/** Whether the store has to confirm the units that were just counted before they are granted. */
const needsStore = ({ shared, unsent, limit }: Counter): boolean =>
  shared + unsent > limit.limit * (1 - MARGIN) || unsent > limit.limit * MARGIN;

/** The end of the window that contains a time, in milliseconds. */
export const windowEnd = ({ windowSeconds }: RateLimit, at: number): number =>
  (Math.floor(at / (windowSeconds * 1000)) + 1) * windowSeconds * 1000;

/**
 * The verdict on a request that brings its counter to `total`. An overdrawn limit resets only after further windows.
 */
export function verdictOf<Limit extends RateLimit>(
  limit: Limit,
  total: number,
  allowed: boolean,
  leftMs: number,
): RateVerdict<Limit> {
  const overdrawnWindows = Math.max(0, Math.floor(total / limit.limit) - 1);
  return {
    limit,
    allowed,
    remaining: Math.max(0, limit.limit - total),
    resetSeconds: Math.max(1, Math.ceil(leftMs / 1000)) + overdrawnWindows * limit.windowSeconds,
  };
}

/**
 * The counters of this process. Decides requests from memory where it can, and collects what has to be sent to the
 * shared store.
 *
 * Performs no I/O. A process grants at most a tenth of a limit without confirmation, and only confirmed units once less
 * than a tenth is left. So N processes that reach their store grant at most 1 + (N − 1)/10 times the limit, however a
 * burst is distributed.
 */
export function createRateCounters({ now, mayWait, maxCounters = MAX_COUNTERS }: RateCountersOptions) {
  /** The counters of the current windows by scope and key; nested maps avoid building a joint key for each request. */
  const counters = new Map<string, Map<string, Counter>>();
  const dirty = new Set<Counter>();

  const createCounter = (limit: RateLimit, key: string, endsAt: number, unsent = 0): Counter => ({
    limit,
    key,
    endsAt,
    shared: 0,
    unsent,
    isStored: false,
    waiting: [],
  });

  const counterOf = (limit: RateLimit, key: string, at: number): Counter => {
    const ofScope = counters.get(limit.scope) ?? new Map<string, Counter>();
    const known = ofScope.get(key);
    const endsAt = windowEnd(limit, at);
    if (known?.endsAt === endsAt) return known;
    const counter = createCounter(limit, key, endsAt);
    ofScope.set(key, counter);
    counters.set(limit.scope, ofScope);
    return counter;
  };

  const add = (counter: Counter, units: number) => {
    counter.unsent += units;
    dirty.add(counter);
  };

  /** Charges the excess of a batch to the following windows. */
  const carryOver = ({ limit, key, endsAt }: Counter, excess: number) => {
    let left = excess;
    for (let next = endsAt; left > 0 && dirty.size < maxCounters; left -= limit.limit) {
      next += limit.windowSeconds * 1000;
      dirty.add(createCounter(limit, key, next, Math.min(left, limit.limit)));
    }
  };

  /** Decides a request that brought its counter to `total`. A refused request is subtracted again. */
  const decide = (
    counter: Counter,
    { cost, counted }: Pick<Ticket, 'cost' | 'counted'>,
    total: number,
  ): RateVerdict => {
    const { limit } = counter;
    const allowed = total <= limit.limit || total - cost - counted <= 0;
    if (!allowed) add(counter, -cost);
    else if (total > limit.limit) carryOver(counter, total - limit.limit);
    return verdictOf(limit, allowed ? total : total - cost, allowed, counter.endsAt - now());
  };

  /** Decides requests whose last unit brought the counter to `total`. While one waits, every later unit waits too. */
  const decideAll = (counter: Counter, tickets: Ticket[], total: number) => {
    let place = total - tickets.reduce((sum, { cost }) => sum + cost, 0);
    for (const ticket of tickets.splice(0)) {
      const verdict = decide(counter, ticket, place + ticket.cost);
      if (verdict.allowed) place += ticket.cost;
      ticket.resolve(verdict);
    }
  };

  return {
    /**
     * Counts a request of `cost` units. Decides it from memory, or leaves it pending until the store has confirmed it.
     *
     * A full bucket accepts any cost; the excess is charged to the following windows. Otherwise a request that does not
     * fit is refused as a whole and costs no units. `counted` are units of the same request counted before.
     */
    consume<Limit extends RateLimit>(
      limit: Limit,
      key: string,
      cost = 1,
      counted = 0,
    ): RateVerdict<Limit> | PendingVerdict<Limit> {
      const at = now();
      const counter = counterOf(limit, key, at);
      const used = counter.shared + counter.unsent;
      const fits = used + cost <= limit.limit || used - counted <= 0;
      if (!fits) return verdictOf(limit, used, false, counter.endsAt - at);
      add(counter, cost);
      const request = { cost, counted };
      if (!needsStore(counter) || !mayWait()) return decide(counter, request, used + cost) as RateVerdict<Limit>;
      const settled = new Promise<RateVerdict>(resolve => counter.waiting.push({ ...request, resolve }));
      return { settled: settled as Promise<RateVerdict<Limit>> };
    },

    /** Returns the unsent units: of all counters, or only of those with waiting requests or close to their limit. */
    removeUnsent(everyone: boolean): Delta[] {
      const at = now();
      const deltas: Delta[] = [];
      for (const counter of dirty) {
        if (!everyone && counter.waiting.length === 0 && !isClose(counter)) continue;
        dirty.delete(counter);
        const { endsAt, unsent, waiting } = counter;
        if (waiting.length === 0 && (unsent === 0 || endsAt <= at)) continue;
        deltas.push({ counter, count: unsent, tickets: waiting });
        counter.waiting = [];
      }
      return deltas;
    },

    /** Stores the store's totals, in the order of the deltas, and decides the requests that waited for them. */
    confirm(deltas: readonly Delta[], totals: readonly number[]): void {
      deltas.forEach((delta, index) => {
        const { counter, count } = delta;
        counter.shared = totals[index] ?? counter.shared + count;
        counter.unsent -= count;
        counter.isStored = true;
        decideAll(counter, delta.tickets, counter.shared);
      });
    },

    /** Decides every waiting request by this process's own count: those of a batch in flight, and all others. */
    decideLocally(deltas: readonly Delta[]): void {
      for (const { counter, tickets, count } of deltas) decideAll(counter, tickets, counter.shared + count);
      for (const counter of dirty) decideAll(counter, counter.waiting, counter.shared + counter.unsent);
    },

    /** Keeps deltas that the store did not accept for a later batch. */
    keep(deltas: readonly Delta[]): void {
      for (const { counter } of deltas) dirty.add(counter);
    },

    /** Drops the counters of ended windows, and the oldest beyond the bound on their number. */
    dropEnded(): void {
      const at = now();
      let count = 0;
      for (const ofScope of counters.values()) count += ofScope.size;
      for (const ofScope of counters.values())
        for (const [key, counter] of ofScope)
          if (counter.endsAt <= at || count > maxCounters) {
            ofScope.delete(key);
            if (counter.waiting.length === 0) dirty.delete(counter); // otherwise unbounded during an outage
            count--;
          }
    },

    /** The number of counters in memory, and how many the store does not have yet. */
    sizes(): { counters: number; dirty: number } {
      let count = 0;
      for (const ofScope of counters.values()) count += ofScope.size;
      return { counters: count, dirty: dirty.size };
    },
  };
}

export type RateCounters = ReturnType<typeof createRateCounters>;
