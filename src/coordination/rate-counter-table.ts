import { textBytes } from '../platform/caches.ts';
import { type RateLimit, type RateVerdict, windowEnd } from './rate-windows.ts';

/** The units counted under one key of a limit in one window. */
export interface Counter {
  readonly limit: RateLimit;
  readonly key: string;
  /** End of the window in the store's time, in milliseconds. */
  readonly endsAt: number;
  /** Estimated memory. */
  readonly bytes: number;
  /** The last known total over all processes, without `unsent`. */
  shared: number;
  /** Units counted by this process that the store has not confirmed; negative after a refund. */
  unsent: number;
  /** Whether the store has confirmed this counter once. */
  isStored: boolean;
  /** Requests whose units are in `unsent` and that wait for the store, in the order in which they were counted. */
  waiting: Ticket[];
}

/** A request that waits for the store. */
export interface Ticket {
  cost: number;
  counted: number;
  resolve(verdict: RateVerdict): void;
}

/** The counters of the current windows. */
export interface CounterTable {
  /** Returns the counter of a key in the window of a time. Creates it where needed. */
  of(limit: RateLimit, key: string, at: number): Counter;
  /** Counts units, negative for a refund, and marks the counter as dirty. */
  add(counter: Counter, units: number): void;
  /** Charges units to the windows after that of a counter, up to the limit in each. */
  carryOver(counter: Counter, units: number): void;
  /** The counters with units that are to be sent. Entries may be removed during iteration. */
  dirty: Set<Counter>;
  /** Drops the counters of ended windows, and the oldest beyond the maximum number or size. */
  dropEnded(at: number): void;
  /** The number of counters in memory, and how many the store does not have yet. */
  sizes(): { counters: number; dirty: number };
}

/** The bounds of a table after each `dropEnded`. */
export interface TableBounds {
  maxCounters: number;
  /** Estimated memory of all counters: a key contains up to 256 characters of an identity. */
  maxBytes: number;
}

/** Heap bytes of a counter besides its key: the object, its list of requests, and entries in a map and a set. */
const COUNTER_BYTES = 250;

const createCounter = (limit: RateLimit, key: string, endsAt: number, unsent = 0): Counter => ({
  limit,
  key,
  endsAt,
  bytes: COUNTER_BYTES + textBytes(key),
  shared: 0,
  unsent,
  isStored: false,
  waiting: [],
});

/** Creates an empty table. */
export function createCounterTable({ maxCounters, maxBytes }: TableBounds): CounterTable {
  /** By scope and key; nested maps avoid building a joint key for each request. */
  const counters = new Map<string, Map<string, Counter>>();
  const dirty = new Set<Counter>();

  const countAll = (): number => {
    let count = 0;
    for (const ofScope of counters.values()) count += ofScope.size;
    return count;
  };

  const sumBytes = (): number => {
    let bytes = 0;
    for (const ofScope of counters.values()) for (const counter of ofScope.values()) bytes += counter.bytes;
    return bytes;
  };

  return {
    dirty,
    of(limit, key, at) {
      const ofScope = counters.get(limit.scope) ?? new Map<string, Counter>();
      const known = ofScope.get(key);
      const endsAt = windowEnd(limit, at);
      if (known?.endsAt === endsAt) return known;
      const counter = createCounter(limit, key, endsAt);
      ofScope.set(key, counter);
      counters.set(limit.scope, ofScope);
      return counter;
    },
    add(counter, units) {
      counter.unsent += units;
      dirty.add(counter);
    },
    carryOver({ limit, key, endsAt }, units) {
      let left = units;
      for (let next = endsAt; left > 0 && dirty.size < maxCounters; left -= limit.limit) {
        next += limit.windowSeconds * 1000;
        dirty.add(createCounter(limit, key, next, Math.min(left, limit.limit)));
      }
    },
    dropEnded(at) {
      let [count, bytes] = [countAll(), sumBytes()];
      for (const ofScope of counters.values())
        for (const [key, counter] of ofScope)
          if (counter.endsAt <= at || count > maxCounters || bytes > maxBytes) {
            ofScope.delete(key);
            if (counter.waiting.length === 0) dirty.delete(counter); // otherwise unbounded during an outage
            count--;
            bytes -= counter.bytes;
          }
    },
    sizes: () => ({ counters: countAll(), dirty: dirty.size }),
  };
}
