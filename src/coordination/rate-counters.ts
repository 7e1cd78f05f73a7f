/** A limit on units (requests, or items of a batch) in windows that start at whole multiples of their length. */
export interface RateLimit {
  /** Name for headers and metrics: `identity`, `api-key`, `ip` … A scope has one limit. */
  readonly scope: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** The decision on one request: whether it is allowed, how many units are left in the window, and when it ends. */
export interface RateVerdict {
  allowed: boolean;
  remaining: number;
  resetSeconds: number;
}

/** A verdict that waits for the store's total, 0.3 s at most. */
export interface PendingVerdict {
  readonly settled: Promise<RateVerdict>;
}

/** The units counted under one key of a limit in one window. */
export interface Counter {
  readonly limit: RateLimit;
  readonly key: string;
  /** End of the window in the store's time, in milliseconds. */
  readonly endsAt: number;
  /** The last known total over all processes; 0 until the store has confirmed the counter. */
  shared: number;
  /** Units counted by this process that the store has not confirmed; negative after a refund. */
  unsent: number;
  /** While waiting requests are decided: the units used before the next of them. */
  place: number;
}

/** A request whose units are counted and that waits for its verdict. */
interface Ticket {
  readonly counter: Counter;
  readonly cost: number;
  readonly counted: number;
  resolve(verdict: RateVerdict): void;
}

/** Units to add to the store, in the order of the counters, and the requests that wait for the totals. */
export interface Batch {
  readonly counters: Counter[];
  readonly counts: number[];
  readonly tickets: Ticket[];
}

/** The fraction of a limit that a process may grant unconfirmed. With less than this left, it grants no such units. */
const MARGIN = 0.1;
/** Up to 64 MB, since a key contains up to 256 characters of an identity. */
const MAX_COUNTERS = 80_000;

const usedOf = ({ shared, unsent }: Counter): number => shared + unsent;

/** Whether a request fits after `used` units. A full bucket accepts any cost; `counted` are units of the same request. */
const fits = ({ limit }: RateLimit, used: number, cost: number, counted: number): boolean =>
  used + cost <= limit || used <= counted;

/** Returns the end of the window that contains a time, in milliseconds. */
export const windowEnd = ({ windowSeconds }: RateLimit, at: number): number =>
  (Math.floor(at / (windowSeconds * 1000)) + 1) * windowSeconds * 1000;

/** Returns the verdict on a request after which `used` units are used. An overdrawn limit resets after further windows. */
export function verdictOf(
  { limit, windowSeconds }: RateLimit,
  used: number,
  allowed: boolean,
  leftMs: number,
): RateVerdict {
  const overdrawnWindows = Math.max(0, Math.floor(used / limit) - 1);
  return {
    allowed,
    remaining: Math.max(0, limit - used),
    resetSeconds: Math.max(1, Math.ceil(leftMs / 1000)) + overdrawnWindows * windowSeconds,
  };
}

/** Creates a counter that the store does not have yet. */
export const createCounter = (limit: RateLimit, key: string, endsAt: number, unsent = 0): Counter => ({
  limit,
  key,
  endsAt,
  shared: 0,
  unsent,
  place: 0,
});

/** The counters of the current windows, by scope and key: nested maps avoid building a joint key for each request. */
function createWindows(maxCounters: number, onEvict: (counter: Counter) => void) {
  const windows = new Map<string, { endsAt: number; counters: Map<string, Counter> }>();
  return {
    /** Returns the counter of a key in the window of a time. Creates it where needed. */
    counterOf(limit: RateLimit, key: string, at: number): Counter {
      const endsAt = windowEnd(limit, at);
      const current = windows.get(limit.scope);
      const window = current?.endsAt === endsAt ? current : { endsAt, counters: new Map<string, Counter>() };
      if (window !== current) windows.set(limit.scope, window);
      const known = window.counters.get(key);
      if (known) return known;
      const counter = createCounter(limit, key, endsAt);
      window.counters.set(key, counter);
      return counter;
    },
    /** Drops ended windows, then the oldest counters of the largest one: a flood of keys evicts counters of its scope. */
    trim(at: number): void {
      for (const [scope, { endsAt }] of windows) if (endsAt <= at) windows.delete(scope);
      const largestFirst = [...windows.values()].map(({ counters }) => counters).sort((a, b) => b.size - a.size);
      let excess = largestFirst.reduce((sum, { size }) => sum + size, -maxCounters);
      for (const counters of largestFirst)
        for (const [key, counter] of counters) {
          if (excess-- <= 0) return;
          counters.delete(key);
          onEvict(counter);
        }
    },
  };
}

/** Decides requests, and counts units of counters to send. */
function createJudge(dirty: Set<Counter>, maxCounters: number, now: () => number) {
  const add = (counter: Counter, units: number): void => {
    counter.unsent += units;
    dirty.add(counter);
  };

  /** Charges units to the windows after that of a counter, up to the limit in each. */
  const carryOver = ({ limit, key, endsAt }: Counter, units: number): void => {
    let end = endsAt;
    for (let left = units; left > 0 && dirty.size < maxCounters; left -= limit.limit) {
      end += limit.windowSeconds * 1000;
      dirty.add(createCounter(limit, key, end, Math.min(left, limit.limit)));
    }
  };

  /** Decides a request after `used` units. */
  const judge = (counter: Counter, used: number, cost: number, counted: number): RateVerdict => {
    const { limit, endsAt } = counter;
    const allowed = fits(limit, used, cost, counted);
    const total = allowed ? used + cost : used;
    if (allowed) carryOver(counter, total - limit.limit);
    return verdictOf(limit, total, allowed, endsAt - now());
  };

  /** Decides waiting requests in the order in which they came. Each counter's `place` includes the units of all its requests. */
  const decide = (tickets: Ticket[]): void => {
    for (const { counter, cost } of tickets) counter.place -= cost;
    for (const { counter, cost, counted, resolve } of tickets) {
      const verdict = judge(counter, counter.place, cost, counted);
      if (verdict.allowed) counter.place += cost;
      else add(counter, -cost);
      resolve(verdict);
    }
  };

  return { add, judge, decide };
}

/**
 * Creates the counters of one process. Decides requests from memory where it can, and where `mayWait` is false (while
 * the store is unreachable). `now` is the store's time in milliseconds. Performs no I/O.
 *
 * A process grants at most a tenth of a limit without confirmation, and only confirmed units once less than a tenth is
 * left. So N processes that reach their store grant at most 1 + (N − 1)/10 times the limit, however a burst is
 * distributed.
 */
export function createRateCounters(now: () => number, mayWait: () => boolean, maxCounters = MAX_COUNTERS) {
  /** Counters with units to send. */
  const dirty = new Set<Counter>();
  const windows = createWindows(maxCounters, counter => dirty.delete(counter)); // otherwise unbounded during an outage
  const waiting: Ticket[] = [];
  const { add, judge, decide } = createJudge(dirty, maxCounters, now);

  return {
    /**
     * Counts a request of `cost` units. Decides it from memory, or leaves it pending until the store has confirmed it.
     *
     * A request that does not fit is refused as a whole and costs no units. A full bucket accepts any cost. `counted`
     * are units of the same request counted before.
     */
    consume(limit: RateLimit, key: string, cost = 1, counted = 0): RateVerdict | PendingVerdict {
      const counter = windows.counterOf(limit, key, now());
      const used = usedOf(counter);
      const isUnconfirmed = used + cost > limit.limit * (1 - MARGIN) || counter.unsent + cost > limit.limit * MARGIN;
      if (isUnconfirmed && mayWait() && fits(limit, used, cost, counted)) {
        add(counter, cost);
        return { settled: new Promise(resolve => waiting.push({ counter, cost, counted, resolve })) };
      }
      const verdict = judge(counter, used, cost, counted);
      if (verdict.allowed) add(counter, cost);
      return verdict;
    },

    /**
     * Returns the units to send: of counters with waiting requests, and of those that have used this fraction of their
     * limit (`Infinity`: of none). The next batch must wait until this one is confirmed or has failed.
     */
    takeBatch(minUse: number): Batch {
      const at = now();
      const tickets = waiting.splice(0);
      const taken = new Set(tickets.map(({ counter }) => counter));
      if (minUse < Number.POSITIVE_INFINITY) {
        windows.trim(at);
        for (const counter of dirty)
          if (counter.unsent === 0 || counter.endsAt <= at) dirty.delete(counter);
          else if (usedOf(counter) >= minUse * counter.limit.limit) taken.add(counter);
      }
      for (const counter of taken) dirty.delete(counter);
      const counters = [...taken];
      return { counters, counts: counters.map(({ unsent }) => unsent), tickets };
    },

    /** Stores the store's totals of a batch and decides the requests that waited for them. */
    confirm({ counters, counts, tickets }: Batch, totals: readonly number[]): void {
      counters.forEach((counter, index) => {
        const count = counts[index] ?? 0;
        counter.shared = counter.place = totals[index] ?? counter.shared + count;
        counter.unsent -= count;
      });
      decide(tickets.splice(0));
    },

    /** Decides every waiting request by this process's own count: those of a batch, and all others. */
    decideLocally(batch?: Batch): void {
      const tickets = [...(batch?.tickets.splice(0) ?? []), ...waiting.splice(0)];
      for (const { counter } of tickets) counter.place = usedOf(counter);
      decide(tickets);
    },

    /** Keeps the units of a failed batch for a later one. */
    keep({ counters }: Batch): void {
      for (const counter of counters) dirty.add(counter);
    },
  };
}
