import type { z } from 'zod';
import { Problem } from '../../domain/problem.ts';
import { retrySoon } from '../../domain/retries.ts';
import { createFairShare, type FairShare } from '../../platform/fair-share.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { Storage } from '../../storage/database/orm.ts';
import type { Caller } from '../caller.ts';

/** Statement time-outs of lists and results, and of searches (`q`). */
const LIST_TIMEOUT_MS = 5000;
const SEARCH_TIMEOUT_MS = 2000;
/** How long a read may wait before it is refused. */
const MAX_LIST_WAIT_MS = 2500;
const MAX_SEARCH_WAIT_MS = 1000;
/**
 * Waiting reads per tenant; further ones are refused at once. Usual lists take milliseconds, so 256 are served in time.
 */
const MAX_WAITING_LISTS = 256;
const MAX_WAITING_SEARCHES = 64;
/** Maximum number of waiting reads in total, as a multiple of the number for one tenant. */
const WAITING_TENANTS = 4;
/** The share of the slots that one tenant may hold. */
const SHARE = 0.6;

/** List parameters that do not filter rows. */
const NOT_FILTERS = new Set(['limit', 'cursor', 'sort', 'order', 'q', 'group_by', 'deleted', 'locale']);

/** The part of a heavy operation that its bounds report. */
export interface ReadOperation {
  path: string;
  query?: z.ZodType;
}

/** Bounds the reads whose cost depends on how much a tenant has stored. */
export interface HeavyReads {
  /**
   * Runs a heavy read with a storage that has its statement time-out.
   *
   * Rejects with `service-overloaded` when too many are in progress, and with `query-too-expensive` and `narrow` when a
   * statement takes too long.
   */
  run<T>(read: HeavyRead, work: (storage: Storage) => Promise<T>): Promise<T>;
}

export interface HeavyRead {
  operation: ReadOperation;
  caller: Caller | undefined;
  query: unknown;
  storage: Storage;
}

const isSearch = (query: unknown): boolean => (query as { q?: unknown } | undefined)?.q !== undefined;

/** Returns the filters of an operation that a request did not use, in the order of its schema. */
export function unusedFilters(operation: ReadOperation, query: unknown): string[] {
  const used = (query ?? {}) as Record<string, unknown>;
  const names = Object.keys((operation.query as z.ZodObject | undefined)?.shape ?? {});
  return names.filter(name => !NOT_FILTERS.has(name) && used[name] === undefined);
}

/** The owner of the share that a read counts against: a tenant, or a person outside a tenant. */
const ownerOf = (caller: Caller | undefined): string =>
  caller ? ('tenantId' in caller ? caller.tenantId : caller.accountId) : 'anonymous';

/**
 * Limits heavy reads to half of the connections, and one tenant to 60 % of these slots. Searches have two slots fewer.
 * So cards, intake and key lookups always find a connection, lists do not wait behind searches, and tenants do not wait
 * for one another.
 */
export function createHeavyReads(connections: number, metrics: Metrics): HeavyReads {
  const refuse = (): Problem => {
    metrics.heavyReadsRefused.inc();
    const options = { retryAfterSeconds: retrySoon() };
    return new Problem('service-overloaded', 'Too many lists and searches are in progress.', options);
  };
  const share = (slots: number, maxWaitingPerKey: number, maxWaitMs: number): FairShare =>
    createFairShare({
      slots,
      perKey: Math.max(1, Math.floor(slots * SHARE)),
      maxWaiting: maxWaitingPerKey * WAITING_TENANTS,
      maxWaitingPerKey,
      maxWaitMs,
      refuse,
    });
  const slots = Math.max(1, Math.floor(connections / 2));
  const reads = share(slots, MAX_WAITING_LISTS, MAX_LIST_WAIT_MS);
  const searches = share(Math.max(1, slots - 2), MAX_WAITING_SEARCHES, MAX_SEARCH_WAIT_MS);

  metrics.onScrape(async () => {
    metrics.heavyReads.set({ state: 'running' }, reads.count().running);
    metrics.heavyReads.set({ state: 'waiting' }, reads.count().waiting + searches.count().waiting);
  });

  return {
    async run({ operation, caller, query, storage }, work) {
      const owner = ownerOf(caller);
      const isSearched = isSearch(query);
      const read = () =>
        reads.run(owner, () => work(storage.reading(isSearched ? SEARCH_TIMEOUT_MS : LIST_TIMEOUT_MS)));
      try {
        return await (isSearched ? searches.run(owner, read) : read());
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'query-too-expensive') throw error;
        metrics.queriesTooExpensive.inc({ route: operation.path });
        const narrow = unusedFilters(operation, query);
        throw new Problem(error.code, error.message, { ...error.options, extra: { narrow } });
      }
    },
  };
}
