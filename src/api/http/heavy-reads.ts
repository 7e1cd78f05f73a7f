import type { z } from 'zod';
import { Problem, retrySoon } from '../../domain/problem.ts';
import { createFairShare, type FairShare } from '../../platform/fair-share.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { Storage } from '../../storage/orm.ts';
import type { Caller } from '../caller.ts';

/** The longest statement of a list or of results, and of a search (`q`). */
const LIST_TIMEOUT_MS = 5000;
const SEARCH_TIMEOUT_MS = 2000;
/** How long a read may wait for its turn; beyond that it is refused. */
const MAX_LIST_WAIT_MS = 2500;
const MAX_SEARCH_WAIT_MS = 1000;
/** How many of one tenant may wait; the next is refused at once. Usual lists take milliseconds, so 256 have their turn. */
const MAX_WAITING_LISTS = 256;
const MAX_WAITING_SEARCHES = 64;
/** How many may wait in all, as a multiple of the number for one tenant. */
const WAITING_TENANTS = 4;
/** The part of the places that one tenant may hold. */
const SHARE = 0.6;

/** Parameters of a list that leave out no rows. */
const NOT_FILTERS = new Set(['limit', 'cursor', 'sort', 'order', 'q', 'group_by', 'deleted', 'locale']);

/** What decides of an operation whether and how its reads are bounded. */
export interface ReadOperation {
  method: string;
  path: string;
  query?: z.ZodType;
  response?: z.ZodType;
  heavy?: boolean;
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

const shapeOf = (schema: z.ZodType | undefined): Record<string, unknown> =>
  (schema as z.ZodObject | undefined)?.shape ?? {};

/**
 * Whether an operation's cost depends on how much is stored: every list, recognised by the page that it replies with,
 * and what says so itself (`heavy`).
 */
export const isHeavy = (operation: ReadOperation): boolean =>
  operation.method === 'get' && (operation.heavy === true || 'has_more' in shapeOf(operation.response));

const isSearch = (query: unknown): boolean => (query as { q?: unknown } | undefined)?.q !== undefined;

/** The filters of an operation that a request did not use, in the order of its schema. */
export function unusedFilters(operation: ReadOperation, query: unknown): string[] {
  const used = (query ?? {}) as Record<string, unknown>;
  return Object.keys(shapeOf(operation.query)).filter(name => !NOT_FILTERS.has(name) && used[name] === undefined);
}

/** Whose share a read counts against: the tenant's, or that of a person outside of any tenant. */
const ownerOf = (caller: Caller | undefined): string =>
  caller ? ('tenantId' in caller ? caller.tenantId : caller.accountId) : 'anonymous';

/**
 * Half of the connections may serve heavy reads, and of those places one tenant holds at most 60 %; two places fewer are
 * for searches. So cards, intake and look-ups of keys always find a connection, lists are not stuck behind searches, and
 * no tenant's reads wait for those of another.
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
  const places = Math.max(1, Math.floor(connections / 2));
  const reads = share(places, MAX_WAITING_LISTS, MAX_LIST_WAIT_MS);
  const searches = share(Math.max(1, places - 2), MAX_WAITING_SEARCHES, MAX_SEARCH_WAIT_MS);

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
