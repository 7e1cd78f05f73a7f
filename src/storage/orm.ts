import { Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Pool, PoolClient } from 'pg';
import { Problem, retrySoon } from '../domain/problem.ts';
import { createFairShare, type Release } from '../platform/fair-share.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { findLaxSettings, SERVER_DURABILITY_COLUMNS, type ServerDurability } from '../platform/postgres-durability.ts';
import type { Spans } from '../platform/spans.ts';
import { ENTITIES } from './entities/index.ts';
import { asProblem, isStatementTimeout, sqlState } from './errors.ts';
import { LOCK_TIMEOUT } from './migrations/concurrent-index.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { ScopedQuery } from './scoped-query.ts';
import { type StorageRole, transactionSettings } from './settings.ts';
import {
  commit,
  type Name,
  nameTenant,
  openLazily,
  prepared,
  type Session,
  sessionOn,
  type Transact,
  transactionContext,
} from './transaction.ts';

export type { StorageRole } from './settings.ts';

/** The rows of one tenant. Every statement runs under that tenant's row-level security. */
export interface TenantStorage {
  readonly tenantId: string;
  /** One statement, in one flight and one implicit transaction with its settings (`ScopedQuery`). */
  query<Row extends object = Record<string, unknown>>(sql: string, params?: unknown[]): Promise<Row[]>;
  /** Several statements in one transaction. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** A unit of work of MikroORM in one transaction. */
  unitOfWork<T>(work: (em: EntityManager) => Promise<T>): Promise<T>;
}

/** The rows of one person: the account, its sessions, its memberships in whatever tenants. */
export interface AccountStorage {
  readonly accountId: string;
  /** Several statements in one transaction; `tenantId` opens the rows of a tenant beside those of the person. */
  transaction<T>(work: (session: Session) => Promise<T>, tenantId?: string): Promise<T>;
}

export interface Storage {
  forTenant(tenantId: string): TenantStorage;
  forAccount(accountId: string): AccountStorage;
  /** One statement that belongs to no tenant: definer functions, counters, what the worker does for all of them. */
  query<Row extends object = Record<string, unknown>>(sql: string, params?: unknown[]): Promise<Row[]>;
  /** A transaction that belongs to no tenant. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /**
   * Whatever `work` does with the storage that it is given, in one transaction: committed when `work` is done, undone
   * when it throws.
   *
   * The first statement opens it, so nothing is held while a password is computed before. `query`, which belongs to no
   * tenant, stays outside and takes a connection of its own: to be asked before, not after.
   */
  inOneTransaction<T>(work: (storage: Storage) => Promise<T>): Promise<T>;
  /** The same database for reads: a statement that takes longer is the problem `query-too-expensive`. */
  reading(statementTimeoutMs: number): Storage;
  /** The same database for maintenance commands, whose statements may take as long as `statementTimeoutMs`. */
  maintaining(statementTimeoutMs: number): Storage;
  /** Why the server may lose what it has confirmed (`fsync`, `full_page_writes`); empty when it does not. */
  findLaxSettings(): Promise<string[]>;
  close(): Promise<void>;
}

export interface StorageOptions {
  url: string;
  role: StorageRole;
  connections: number;
  /**
   * Refuses every transaction, as `database-unavailable`, while `fsync` or `full_page_writes` is off: for a worker, whose
   * commit is what lets an acknowledged answer leave the queue.
   */
  requireDurable?: boolean;
  log: Log;
  metrics?: Metrics;
  spans?: Spans | undefined;
}

const CONNECT_TIMEOUT_MS = 2500;
const STATEMENT_TIMEOUT_MS = 10_000;
/** Beyond the server's own time-out: for a server that does not answer at all. */
const CLIENT_MARGIN_MS = 2000;
/** One tenant never holds the last fifth of the connections, nor the only one that is left of several. */
const RESERVED_SHARE = 5;
/** The same statement would only cost as much again: clients that repeat by themselves do so rarely. */
const RETRY_EXPENSIVE_S = 30;
const MAX_WAITING = 4000;
const MAX_WAITING_OF_TENANT = 1000;

const ormOptions = (url: string, log: Log) => ({
  clientUrl: url,
  driverOptions: { connectionString: url }, // MikroORM reads neither sslmode nor sslrootcert from an address, pg does
  entities: ENTITIES,
  extensions: [Migrator],
  ensureDatabase: false as const,
  migrations: {
    tableName: 'schema_migrations',
    migrationsList: MIGRATIONS,
    snapshot: false,
    allOrNothing: false, // each migration commits by itself: its locks end with it
    disableForeignKeys: false,
    silent: true,
  },
  schemaGenerator: { ignorePolicies: true, ignoreTriggers: true, ignoreRoutines: true },
  logger: (message: string) => log.debug(message),
});

type TenantQuery = (tenantId: string, sql: string, params: unknown[]) => Promise<unknown[]>;

/** What a storage's statements may take, and what it means when one takes longer. */
interface Limits {
  statementTimeoutMs: number;
  /** Whether a time-out blames the statement, and not the database. */
  blamesStatement: boolean;
}

/**
 * MikroORM on the rights of the connection's own user: for migrations and their test only.
 *
 * One connection, on which no statement waits long for a lock.
 */
export const openOrm = (url: string, log: Log) => {
  const options = ormOptions(url, log);
  const onConnect = (client: PoolClient) => client.query(`set lock_timeout = '${LOCK_TIMEOUT}'`);
  return MikroORM.init({ ...options, driverOptions: { ...options.driverOptions, max: 1, onConnect } });
};

/**
 * The database for one process, as a role that row-level security binds.
 *
 * Opens lazily: a database that is away is an error of the statement that needs it, never of the start. Failures of
 * the infrastructure come out as the problem `database-unavailable`. Connections are shared fairly between tenants: a
 * tenant that has to wait for too long gets `service-overloaded`; statements of no tenant come before all others.
 */
export function openStorage(storageOptions: StorageOptions): Storage {
  const { url, role, connections, requireDurable = false, log, metrics, spans } = storageOptions;
  const options = ormOptions(url, log);
  const orm = new MikroORM({
    ...options,
    driverOptions: {
      ...options.driverOptions,
      max: connections,
      pipeline: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: STATEMENT_TIMEOUT_MS + CLIENT_MARGIN_MS,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      application_name: role,
      // Every transaction sets its own role; this one binds a statement that would ever be sent outside of one.
      onConnect: (client: PoolClient) => {
        spans?.watch(client);
        return client.query(`set role ${role}`);
      },
    },
  });
  let pool: Pool | undefined;
  /** The last attempt to connect that failed, while none has succeeded since. */
  let connectFailure: unknown;

  const refuseConnection = (): Problem =>
    connectFailure
      ? (asProblem(connectFailure) as Problem)
      : new Problem('service-overloaded', 'Too many requests are waiting for the database.', {
          retryAfterSeconds: retrySoon(),
        });
  const shares = createFairShare({
    slots: connections,
    perKey: Math.max(1, connections - Math.ceil(connections / RESERVED_SHARE)),
    maxWaiting: MAX_WAITING,
    maxWaitingPerKey: MAX_WAITING_OF_TENANT,
    maxWaitMs: CONNECT_TIMEOUT_MS,
    priorityKey: '',
    refuse: refuseConnection,
  });

  const connect = async (): Promise<PoolClient> => {
    pool ??= (await orm.em.getConnection().getNativeClient()) as Pool;
    try {
      const client = await pool.connect();
      connectFailure = undefined;
      return client;
    } catch (error) {
      connectFailure = error;
      throw error;
    }
  };

  /** A connection within the tenant's share, and how to give the share back. */
  const connectFor = async (tenantId: string): Promise<{ client: PoolClient; release: Release }> => {
    const startedAt = performance.now();
    let release: Release | undefined;
    try {
      release = await shares.acquire(tenantId);
      return { client: await connect(), release };
    } catch (error) {
      release?.();
      throw error;
    } finally {
      metrics?.dbPoolWait.observe((performance.now() - startedAt) / 1000); // those that gave up waited the longest
    }
  };

  const explain = (error: unknown, limits: Limits): unknown => {
    if (limits.blamesStatement && isStatementTimeout(error)) return queryTooExpensive(limits.statementTimeoutMs, error);
    metrics?.dbErrors.inc({ sqlstate_class: sqlState(error)?.slice(0, 2) ?? 'none' });
    return asProblem(error);
  };

  const withClient = async <T>(
    tenantId: string,
    limits: Limits,
    work: (client: PoolClient) => Promise<T>,
  ): Promise<T> => {
    let connected: { client: PoolClient; release: Release } | undefined;
    let failure: Error | undefined;
    try {
      connected = await connectFor(tenantId);
      return await work(connected.client);
    } catch (error) {
      if (error instanceof Problem) throw error; // our own refusal: no statement failed, and the transaction is undone
      failure = error as Error;
      throw explain(error, limits);
    } finally {
      // A connection whose state is in doubt is not given back: a failed statement leaves it clean, anything else not.
      connected?.client.release(failure !== undefined && sqlState(failure) === undefined);
      connected?.release();
    }
  };

  const close = async () => {
    await orm.close(true);
    if (pool && !pool.ending) await pool.end(); // MikroORM ends only a pool that it has sent a statement through itself
  };

  const storageWithin = (limits: Limits): Storage => {
    const { statementTimeoutMs } = limits;
    const clientTimeout = { query_timeout: statementTimeoutMs + CLIENT_MARGIN_MS };
    const settingsFor = (name: Name) => transactionSettings(role, name, statementTimeoutMs);

    const queryAs = (tenantId: string, sql: string, params: unknown[]) =>
      withClient(tenantId, limits, async client => {
        const statement = { ...prepared(sql, params), ...clientTimeout };
        const query = Object.assign(new ScopedQuery(settingsFor(nameTenant(tenantId)), statement), clientTimeout);
        client.query(query as never);
        return (await query.outcome).rows;
      });

    /** One transaction; its settings end with it. */
    const transact: Transact = (name, work) =>
      withClient(name.tenantId, limits, async client => {
        const opened = Promise.all([client.query('begin'), client.query<ServerDurability>(settingsFor(name))]);
        try {
          const [result, [, settings]] = await Promise.all([work(client), opened]);
          if (requireDurable) refuseLax(settings.rows[0]);
          await commit(client);
          return result;
        } catch (error) {
          await Promise.allSettled([opened, client.query('rollback')]);
          throw error;
        }
      });

    /** A unit of work of MikroORM on a connection that is in a transaction. */
    const unitOfWorkOn = async <T>(client: PoolClient, work: (em: EntityManager) => Promise<T>): Promise<T> => {
      const em = orm.em.fork();
      em.setTransactionContext(transactionContext(client));
      const result = await work(em);
      await em.flush();
      return result;
    };

    /** The storage whose transactions are run by `run`, each in one of its own or all in the same. */
    const storageOn = (run: Transact, query: TenantQuery, more: Pick<Storage, 'inOneTransaction'>): Storage => ({
      forTenant: tenantId => ({
        tenantId,
        query: (sql, params = []) => query(tenantId, sql, params) as Promise<never>,
        transaction: work => run(nameTenant(tenantId), client => work(sessionOn(client, clientTimeout))),
        unitOfWork: work => run(nameTenant(tenantId), client => unitOfWorkOn(client, work)),
      }),
      forAccount: accountId => ({
        accountId,
        transaction: (work, tenantId = '') =>
          run({ tenantId, accountId }, client => work(sessionOn(client, clientTimeout))),
      }),
      query: (sql, params = []) => queryAs('', sql, params) as Promise<never>,
      transaction: work => run(nameTenant(''), client => work(sessionOn(client, clientTimeout))),
      ...more,
      reading: timeoutMs => storageWithin({ statementTimeoutMs: timeoutMs, blamesStatement: true }),
      maintaining: timeoutMs => storageWithin({ statementTimeoutMs: timeoutMs, blamesStatement: false }),
      findLaxSettings: async () => {
        const rows = await queryAs('', `select ${SERVER_DURABILITY_COLUMNS}`, []);
        return findLaxSettings(rows[0]);
      },
      close,
    });

    const inOneTransaction = async <T>(work: (storage: Storage) => Promise<T>): Promise<T> => {
      const one = openLazily(transact);
      const query: TenantQuery = (tenantId, sql, params) =>
        one.run(nameTenant(tenantId), client => sessionOn(client, clientTimeout).query(sql, params));
      const storage = storageOn(one.run, query, { inOneTransaction: inner => inner(storage) });
      return one.around(() => work(storage));
    };

    return storageOn(transact, queryAs, { inOneTransaction });
  };

  metrics?.onScrape(async () => {
    if (!pool) return;
    metrics.dbPool.set({ state: 'idle' }, pool.idleCount);
    metrics.dbPool.set({ state: 'used' }, pool.totalCount - pool.idleCount);
    metrics.dbPool.set({ state: 'waiting' }, pool.waitingCount);
  });

  return storageWithin({ statementTimeoutMs: STATEMENT_TIMEOUT_MS, blamesStatement: false });
}

const queryTooExpensive = (limitMs: number, cause: unknown): Problem =>
  new Problem('query-too-expensive', `The query was cancelled after ${limitMs / 1000} s.`, {
    retryAfterSeconds: RETRY_EXPENSIVE_S,
    cause,
  });

function refuseLax(settings: ServerDurability | undefined): void {
  const lax = settings ? findLaxSettings(settings) : [];
  if (lax.length > 0) throw new Problem('database-unavailable', `PostgreSQL is not durable: ${lax.join('; ')}.`);
}
