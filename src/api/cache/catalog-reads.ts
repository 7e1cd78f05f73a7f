import { Problem } from '../../domain/problem.ts';
import type { Cache } from '../../platform/caches.ts';

/** A value in memory. */
export interface CachedRead<Value> {
  value: Value;
  /** When the read began: the value has everything committed before. */
  readAt: number;
  /** Whether a change was announced since. */
  isStale: boolean;
  /** When the database was last found unreachable; undefined while it is reachable. */
  awaySince: number | undefined;
}

/** A read in progress. */
interface Reading<Value> {
  /** Reads are numbered in the order in which they begin. */
  number: number;
  isStale: boolean;
  done: Promise<Value>;
}

export interface CatalogReadsOptions<Value> {
  entries: Cache<string, CachedRead<Value>>;
  /** Reads the value of a tenant. `at` is the time of this call. */
  load(tenantId: string, at: number): Promise<Value>;
  now: () => number;
}

/** A value per tenant that is kept in memory, and read again after a change. */
export interface CatalogReads<Value> {
  /** Returns the value; the last known one while the database is unreachable. Rejects when there is none. */
  of(tenantId: string): Promise<Value>;
  /** Returns the value synchronously if it is in memory and current. */
  cached(tenantId: string): Value | undefined;
  /** Returns the value of a read that begins after this call. */
  refresh(tenantId: string): Promise<Value>;
  /** Whether the last read of the value found the database reachable. After an outage, the read in progress decides. */
  isReachable(tenantId: string): Promise<boolean>;
  /** Records a change of one tenant, or one that may concern any of them. */
  markStale(tenantId: string): void;
  markAllStale(): void;
}

/** Maximum age of a value. A safeguard against missed notices. */
const MAX_AGE_MS = 60_000;
/** How often an unreachable database is retried. Requests that can be served from memory do not wait for it. */
const RETRY_MS = 1000;

const isOutage = (error: unknown): boolean => error instanceof Problem && error.kind === 'unavailable';

/** After an outage that ended with another error, callers wait for a read again instead of using the old value. */
function endOutage(known: CachedRead<unknown>): void {
  if (known.awaySince === undefined) return;
  known.awaySince = undefined;
  known.isStale = true;
}

/**
 * Runs one read per tenant at a time. A caller receives a value whose read began after every change announced before
 * the call, or, during an outage of the database, the last one in memory. After any other error it receives the error.
 */
export function createCatalogReads<Value>({ entries, load, now }: CatalogReadsOptions<Value>): CatalogReads<Value> {
  const readings = new Map<string, Reading<Value>>();
  /** The number of reads begun. */
  let begun = 0;

  const isFresh = ({ isStale, readAt, awaySince }: CachedRead<Value>): boolean =>
    !isStale && awaySince === undefined && now() - readAt < MAX_AGE_MS;

  const begin = (tenantId: string): Promise<Value> => {
    const readAt = now();
    const done = load(tenantId, readAt).then(
      value => {
        readings.delete(tenantId);
        entries.set(tenantId, { value, readAt, isStale: reading.isStale, awaySince: undefined });
        return value;
      },
      error => {
        readings.delete(tenantId);
        const known = entries.peek(tenantId);
        if (known && isOutage(error)) {
          known.awaySince = readAt;
          return known.value;
        }
        if (known) endOutage(known);
        throw error;
      },
    );
    const reading: Reading<Value> = { number: ++begun, isStale: false, done };
    readings.set(tenantId, reading);
    return done;
  };

  /** Joins the read in progress if it is recent enough, and otherwise the next one, which one of the callers begins. */
  const read = (
    tenantId: string,
    isRecent: (reading: Reading<Value>) => boolean = ({ isStale }) => !isStale,
  ): Promise<Value> => {
    const current = readings.get(tenantId);
    if (!current) return begin(tenantId);
    if (isRecent(current)) return current.done;
    const again = () => read(tenantId, isRecent);
    return current.done.then(again, again);
  };

  return {
    async of(tenantId) {
      const known = entries.peek(tenantId);
      if (known && isFresh(known)) return known.value;
      if (known?.awaySince === undefined) return read(tenantId);
      const retry = now() - known.awaySince < RETRY_MS ? undefined : read(tenantId);
      retry?.catch(() => undefined); // the next caller waits for the read, and receives other errors
      return known.value;
    },
    cached(tenantId) {
      const known = entries.peek(tenantId);
      const isHit = known !== undefined && isFresh(known);
      entries.count(isHit);
      return isHit ? known.value : undefined;
    },
    refresh(tenantId) {
      const last = begun;
      return read(tenantId, ({ isStale, number }) => !isStale && number > last);
    },
    async isReachable(tenantId) {
      const isAway = () => entries.peek(tenantId)?.awaySince !== undefined;
      if (isAway()) await readings.get(tenantId)?.done.catch(() => undefined); // the caller of `of` handles errors
      return !isAway();
    },
    markStale(tenantId) {
      for (const known of [entries.peek(tenantId), readings.get(tenantId)]) if (known) known.isStale = true;
    },
    markAllStale() {
      for (const known of [...entries.values(), ...readings.values()]) known.isStale = true;
    },
  };
}
