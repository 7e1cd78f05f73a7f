import {
  type Counter,
  type CounterTable,
  createCounterTable,
  type TableBounds,
  type Ticket,
} from './rate-counter-table.ts';
import { type RateLimit, type RateVerdict, verdictOf } from './rate-windows.ts';

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

export interface RateCountersOptions extends Partial<TableBounds> {
  /** The store's time in milliseconds. */
  now: () => number;
  /** Whether requests may wait for the store: false while it is unreachable, and where limits only count. */
  mayWait: () => boolean;
}

const MAX_COUNTERS = 200_000;
/** Enough for all counters with keys of usual length, and for a third of them with the longest. */
const MAX_BYTES = 64 * 1024 * 1024;
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

/** Decides requests by the total of their counter. */
function createJudge({ add, carryOver }: CounterTable, now: () => number) {
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
  const decideAll = (counter: Counter, tickets: Ticket[], total: number): void => {
    let place = total - tickets.reduce((sum, { cost }) => sum + cost, 0);
    for (const ticket of tickets.splice(0)) {
      const verdict = decide(counter, ticket, place + ticket.cost);
      if (verdict.allowed) place += ticket.cost;
      ticket.resolve(verdict);
    }
  };

  return { decide, decideAll };
}

/** The counters of this process. Performs no I/O. */
export interface RateCounters {
  /**
   * Counts a request of `cost` units. Decides it from memory, or leaves it pending until the store has confirmed it.
   *
   * A full bucket accepts any cost; the excess is charged to the following windows. Otherwise a request that does not
   * fit is refused as a whole and costs no units. `counted` are units of the same request counted before.
   */
  consume<Limit extends RateLimit>(
    limit: Limit,
    key: string,
    cost?: number,
    counted?: number,
  ): RateVerdict<Limit> | PendingVerdict<Limit>;
  /** Returns the unsent units: of all counters, or only of those with waiting requests or close to their limit. */
  removeUnsent(everyone: boolean): Delta[];
  /** Stores the store's totals, in the order of the deltas, and decides the requests that waited for them. */
  confirm(deltas: readonly Delta[], totals: readonly number[]): void;
  /** Decides every waiting request by this process's own count: those of a batch in flight, and all others. */
  decideLocally(deltas: readonly Delta[]): void;
  /** Keeps deltas that the store did not accept for a later batch. */
  keep(deltas: readonly Delta[]): void;
  /** Drops the counters of ended windows, and the oldest beyond the bounds on their number and size. */
  dropEnded(): void;
  /** The number of counters in memory, and how many the store does not have yet. */
  sizes(): { counters: number; dirty: number };
}

/**
 * The counters of this process. Decides requests from memory where it can, and collects the units to send to the shared
 * store.
 *
 * A process grants at most a tenth of a limit without confirmation, and only confirmed units once less than a tenth is
 * left. So N processes that reach their store grant at most 1 + (N − 1)/10 times the limit, however a burst is
 * distributed.
 */
export function createRateCounters({
  now,
  mayWait,
  maxCounters = MAX_COUNTERS,
  maxBytes = MAX_BYTES,
}: RateCountersOptions): RateCounters {
  const table = createCounterTable({ maxCounters, maxBytes });
  const { dirty } = table;
  const { decide, decideAll } = createJudge(table, now);

  return {
    consume<Limit extends RateLimit>(limit: Limit, key: string, cost = 1, counted = 0) {
      const at = now();
      const counter = table.of(limit, key, at);
      const used = counter.shared + counter.unsent;
      const fits = used + cost <= limit.limit || used - counted <= 0;
      if (!fits) return verdictOf(limit, used, false, counter.endsAt - at);
      table.add(counter, cost);
      const request = { cost, counted };
      if (!needsStore(counter) || !mayWait()) return decide(counter, request, used + cost) as RateVerdict<Limit>;
      const settled = new Promise<RateVerdict>(resolve => counter.waiting.push({ ...request, resolve }));
      return { settled: settled as Promise<RateVerdict<Limit>> };
    },

    removeUnsent(everyone) {
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

    confirm(deltas, totals) {
      deltas.forEach((delta, index) => {
        const { counter, count } = delta;
        counter.shared = totals[index] ?? counter.shared + count;
        counter.unsent -= count;
        counter.isStored = true;
        decideAll(counter, delta.tickets, counter.shared);
      });
    },

    decideLocally(deltas) {
      for (const { counter, tickets, count } of deltas) decideAll(counter, tickets, counter.shared + count);
      for (const counter of dirty) decideAll(counter, counter.waiting, counter.shared + counter.unsent);
    },

    keep(deltas) {
      for (const { counter } of deltas) dirty.add(counter);
    },

    dropEnded: () => table.dropEnded(now()),
    sizes: () => table.sizes(),
  };
}
