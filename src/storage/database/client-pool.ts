import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { Problem } from '../../domain/problem.ts';
import { retrySoon } from '../../domain/retries.ts';
import { createFairShare, type Release } from '../../platform/fair-share.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { asProblem, isRefusedConnection, sqlState } from './errors.ts';

/** How long connecting may take. */
export const CONNECT_TIMEOUT_MS = 2500;
/** How long a statement waits for a connection, also from a server that refuses them while it restarts. */
export const MAX_WAIT_MS = 3000;
const RETRY_REFUSED_MS = 100;
/** A server that refuses connections for longer is down: its callers get the failure at once. */
const RESTART_MS = 10_000;
/** One tenant never holds the last fifth of the connections, or at least one if there are several. */
const RESERVED_SHARE = 5;
const MAX_WAITING = 4000;
const MAX_WAITING_OF_TENANT = 1000;

/** Connections that the tenants share fairly. */
export interface ClientPool {
  /**
   * Runs `work` on a connection within the tenant's share; an empty id has priority.
   *
   * A refused connection is tried again until `MAX_WAIT_MS` have passed, since no transaction has begun. A tenant that waits too
   * long gets `service-overloaded`, or the last failure to connect. Errors that are no `Problem`
   * are thrown as `explain` returns them. After one without an SQLSTATE, the connection is discarded, because its state
   * is unknown.
   */
  withClient<T>(
    tenantId: string,
    explain: (error: unknown) => unknown,
    work: (client: PoolClient) => Promise<T>,
  ): Promise<T>;
}

export interface ClientPoolOptions {
  /** Returns a client. Rejects while the database is unreachable. */
  connect(): Promise<PoolClient>;
  /** Size of the pool. */
  connections: number;
  metrics?: Pick<Metrics, 'dbPoolWait'> | undefined;
}

/** Creates the shares of a pool's connections. */
export function createClientPool({ connect, connections, metrics }: ClientPoolOptions): ClientPool {
  /** The last failed connection attempt, if none has succeeded since. */
  let connectFailure: unknown;
  /** When the server began to refuse connections; undefined while it accepts them. */
  let refusesSince: number | undefined;

  const shares = createFairShare({
    slots: connections,
    perKey: Math.max(1, connections - Math.ceil(connections / RESERVED_SHARE)),
    maxWaiting: MAX_WAITING,
    maxWaitingPerKey: MAX_WAITING_OF_TENANT,
    maxWaitMs: MAX_WAIT_MS,
    priorityKey: '',
    refuse: () =>
      connectFailure
        ? (asProblem(connectFailure) as Problem)
        : new Problem('service-overloaded', 'Too many requests are waiting for the database.', {
            retryAfterSeconds: retrySoon(),
          }),
  });

  const connectBefore = async (deadline: number): Promise<PoolClient> => {
    for (;;) {
      try {
        const client = await connect();
        connectFailure = refusesSince = undefined;
        return client;
      } catch (error) {
        connectFailure = error;
        if (!isRefusedConnection(error)) throw error;
        const next = performance.now() + RETRY_REFUSED_MS;
        refusesSince ??= next;
        if (next > Math.min(deadline, refusesSince + RESTART_MS)) throw error;
      }
      await sleep(RETRY_REFUSED_MS);
    }
  };

  /** Returns a connection within the tenant's share, and the function that releases the share. */
  const connectFor = async (tenantId: string): Promise<{ client: PoolClient; release: Release }> => {
    const startedAt = performance.now();
    let release: Release | undefined;
    try {
      release = await shares.acquire(tenantId);
      return { client: await connectBefore(startedAt + MAX_WAIT_MS), release };
    } catch (error) {
      release?.();
      throw error;
    } finally {
      metrics?.dbPoolWait.observe((performance.now() - startedAt) / 1000); // timed-out waits are the longest
    }
  };

  return {
    async withClient(tenantId, explain, work) {
      let connected: { client: PoolClient; release: Release } | undefined;
      let failure: unknown;
      try {
        connected = await connectFor(tenantId);
        return await work(connected.client);
      } catch (error) {
        if (error instanceof Problem) throw error; // no statement failed, and the transaction is rolled back
        failure = error;
        throw explain(error);
      } finally {
        connected?.client.release(failure !== undefined && sqlState(failure) === undefined);
        connected?.release();
      }
    },
  };
}

/** Reports the number of connections by state at each scrape. Reports none before the pool is open. */
export function reportPool(metrics: Metrics | undefined, pool: () => Pool | undefined): void {
  metrics?.onScrape(async () => {
    const open = pool();
    if (!open) return;
    metrics.dbPool.set({ state: 'idle' }, open.idleCount);
    metrics.dbPool.set({ state: 'used' }, open.totalCount - open.idleCount);
    metrics.dbPool.set({ state: 'waiting' }, open.waitingCount);
  });
}
