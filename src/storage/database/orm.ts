import { Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Pool, PoolClient } from 'pg';
import { Problem } from '../../domain/problem.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { readsUrl } from '../../platform/postgres-client.ts';
import {
  findLaxSettings,
  SERVER_DURABILITY_COLUMNS,
  type ServerDurability,
} from '../../platform/postgres-durability.ts';
import { BEGIN, SESSION_SETTINGS } from '../../platform/postgres-session.ts';
import type { Spans } from '../../platform/spans.ts';
import { type DatabaseUrl, directUrlOf, isPooled, rolePrefixOf, urlOf } from '../../platform/store-urls.ts';
import { ENTITIES } from '../entities/index.ts';
import { LOCK_TIMEOUT } from '../migrations/concurrent-index.ts';
import { MIGRATIONS } from '../migrations/index.ts';
import { type ClientPool, CONNECT_TIMEOUT_MS, createClientPool, reportPool } from './client-pool.ts';
import { roleName, withRolePrefix } from './database-roles.ts';
import { asProblem, isStatementTimeout, sqlState } from './errors.ts';
import { ScopedQuery } from './scoped-query.ts';
import { type Planning, type StorageRole, transactionSettings } from './settings.ts';
import {
  commit,
  openLazyTransaction,
  prepared,
  type RowScope,
  type Transact,
  type Transaction,
  tenantScope,
  transactionContext,
  transactionOn,
} from './transaction.ts';

export type { StorageRole } from './settings.ts';

/** The rows of one tenant. Every statement runs under that tenant's row-level security. */
export interface TenantStorage {
  readonly tenantId: string;
  /**
   * Runs one statement in one round trip and one implicit transaction with its settings (`ScopedQuery`). Its plan is
   * generic unless `planning` is given.
   */
  query<Row extends object = Record<string, unknown>>(
    sql: string,
    params?: unknown[],
    planning?: Planning,
  ): Promise<Row[]>;
  /** Runs several statements in one transaction. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Runs a MikroORM unit of work in one transaction. Row locks are taken in SQL, with `tx`, before a row is read by
   * `em`.
   */
  unitOfWork<T>(work: (em: EntityManager, tx: Transaction) => Promise<T>): Promise<T>;
}

/** The rows of one person: the account, its sessions, and its memberships in any tenants. */
export interface AccountStorage {
  readonly accountId: string;
  /** Runs several statements in one transaction. `tenantId` adds access to a tenant's rows. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, tenantId?: string): Promise<T>;
}

export interface Storage {
  forTenant(tenantId: string): TenantStorage;
  forAccount(accountId: string): AccountStorage;
  /** Runs one statement outside of any tenant: definer functions, counters, the worker's work for all tenants. */
  query<Row extends object = Record<string, unknown>>(sql: string, params?: unknown[]): Promise<Row[]>;
  /** Runs a transaction outside of any tenant. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Runs all that `work` does with the given storage in one transaction, committed when `work` resolves and rolled back
   * when it throws.
   *
   * The first statement opens it, so that no connection is held while, for example, a password is hashed. `query`,
   * which has no tenant, uses a separate connection outside of the transaction: call it before, not after.
   */
  inTransaction<T>(work: (storage: Storage) => Promise<T>): Promise<T>;
  /** Returns the same database for reads. Statements beyond the time-out throw `query-too-expensive`. */
  reading(statementTimeoutMs: number): Storage;
  /** Returns the same database for maintenance commands with a longer statement time-out. */
  maintaining(statementTimeoutMs: number): Storage;
  /** Returns why the server may lose confirmed commits (`fsync`, `full_page_writes`); empty when it does not. */
  findLaxSettings(): Promise<string[]>;
  close(): Promise<void>;
}

export interface StorageOptions {
  url: DatabaseUrl;
  role: StorageRole;
  connections: number;
  /**
   * Refuses every transaction with `database-unavailable` while `fsync` or `full_page_writes` is off. For the worker,
   * whose commit removes acknowledged answers from the queue.
   */
  requireDurable?: boolean;
  log: Log;
  metrics?: Metrics;
  spans?: Spans | undefined;
}

/** How often PostgreSQL checks whether a migrator is still connected. */
const CHECK_CLIENT_EVERY = '1s';
const STATEMENT_TIMEOUT_MS = 10_000;
/** Added to the server's time-out, for a server that does not reply. */
const CLIENT_MARGIN_MS = 2000;
/** A retried statement would cost as much again, so automatic retries should be rare. */
const RETRY_EXPENSIVE_S = 30;

/** The migrations, with the role names of a prefix. */
const migrationsFor = (prefix: string) =>
  MIGRATIONS.map(({ name, class: Migration }) => ({
    name,
    class: class extends Migration {
      override addSql(sql: Parameters<InstanceType<typeof Migration>['addSql']>[0]): void {
        super.addSql(typeof sql === 'string' ? withRolePrefix(sql, prefix) : sql);
      }
    },
  }));

const ormOptions = (database: DatabaseUrl, log: Log, direct = false) => ({
  clientUrl: (direct ? directUrlOf : urlOf)(database),
  driverOptions: readsUrl(database, direct), // unlike pg, MikroORM ignores sslmode and sslrootcert in a URL
  entities: ENTITIES,
  extensions: [Migrator],
  ensureDatabase: false as const,
  migrations: {
    tableName: 'schema_migrations',
    migrationsList: migrationsFor(rolePrefixOf(database)),
    snapshot: false,
    allOrNothing: false, // each migration is its own transaction, which releases its locks
    disableForeignKeys: false,
    silent: true,
  },
  schemaGenerator: { ignorePolicies: true, ignoreTriggers: true, ignoreRoutines: true },
  logger: (message: string) => log.debug(message),
});

type TenantQuery = (tenantId: string, sql: string, params: unknown[], planning?: Planning) => Promise<unknown[]>;

/** The time-out of a storage's statements, and the error it causes. */
interface Limits {
  statementTimeoutMs: number;
  /** Whether a time-out is the statement's fault rather than the database's. */
  blamesStatement: boolean;
}

/**
 * MikroORM with the rights of the connection's user. Only for migrations and their test.
 *
 * One connection, with a short lock time-out, which ends soon after its process is killed. Otherwise PostgreSQL would
 * go on creating an index, and the next attempt would wait for it.
 */
export const openOrm = (database: DatabaseUrl, log: Log) => {
  const options = ormOptions(database, log, true);
  const onConnect = async (client: PoolClient) => {
    await client.query(SESSION_SETTINGS);
    await client.query(`set lock_timeout = '${LOCK_TIMEOUT}'`);
    await client.query(`set client_connection_check_interval = '${CHECK_CLIENT_EVERY}'`);
  };
  return MikroORM.init({ ...options, driverOptions: { ...options.driverOptions, max: 1, onConnect } });
};

/** A database that is open in this process, as shared by its storages. */
interface OpenDatabase {
  orm: MikroORM;
  clients: ClientPool;
  /** The name of the role on the server. */
  role: string;
  requireDurable: boolean;
  isPooled: boolean;
  metrics: Metrics | undefined;
  close(): Promise<void>;
}

/**
 * Opens the database for one process, as a role that is subject to row-level security.
 *
 * Connects lazily: an unreachable database fails the statement that needs it, never the startup. Infrastructure
 * failures throw `database-unavailable`. Connections are shared fairly between tenants. A tenant that waits too long
 * gets `service-overloaded`; statements without a tenant have priority.
 */
export function openStorage(options: StorageOptions): Storage {
  const { connections, requireDurable = false, metrics } = options;
  const role = roleName(options.role, rolePrefixOf(options.url));
  const orm = new MikroORM(poolOptions(options));
  let pool: Pool | undefined;
  const connect = async (): Promise<PoolClient> => {
    pool ??= (await orm.em.getConnection().getNativeClient()) as Pool;
    return pool.connect();
  };
  const close = async () => {
    await orm.close(true);
    if (pool && !pool.ending) await pool.end(); // MikroORM only ends a pool that it has used itself
  };
  reportPool(metrics, () => pool);
  const clients = createClientPool({ connect, connections, metrics });
  const database = { orm, clients, role, requireDurable, isPooled: isPooled(options.url), metrics, close };
  return storageWith(database, { statementTimeoutMs: STATEMENT_TIMEOUT_MS, blamesStatement: false });
}

const poolOptions = ({ url, role, connections, log, spans }: StorageOptions) => {
  const options = ormOptions(url, log);
  return {
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
      // Every transaction sets its own role. This one applies to statements sent outside of a transaction by mistake.
      // Behind a pooler, it would apply to those of other clients.
      onConnect: (client: PoolClient) => {
        spans?.watch(client);
        if (isPooled(url)) return undefined;
        return client.query(`${SESSION_SETTINGS}; set role ${roleName(role, rolePrefixOf(url))}`);
      },
    },
  };
};

/** Returns a storage with these limits. */
function storageWith(database: OpenDatabase, limits: Limits): Storage {
  const runner = createRunner(database, limits);
  const inTransaction = async <T>(work: (storage: Storage) => Promise<T>): Promise<T> => {
    const one = openLazyTransaction(runner.transact);
    const query: TenantQuery = (tenantId, sql, params, planning) =>
      one.run(tenantScope(tenantId), async client => {
        const tx = runner.transactionOn(client);
        const planned = planning && tx.query(planning.sql);
        return (await Promise.all([tx.query(sql, params), planned]))[0];
      });
    const storage = storageOn(database, { ...runner, transact: one.run }, query, inner => inner(storage));
    return one.around(() => work(storage));
  };
  return storageOn(database, runner, runner.query, inTransaction);
}

/** Runs statements and transactions with the limits of a storage. */
interface Runner {
  /** Runs one statement in one round trip. */
  query: TenantQuery;
  /** Runs one transaction. Its settings end with it. */
  transact: Transact;
  transactionOn(client: PoolClient): Transaction;
}

function createRunner(database: OpenDatabase, limits: Limits): Runner {
  const { clients, role, requireDurable, metrics } = database;
  const { statementTimeoutMs } = limits;
  const clientTimeout = { query_timeout: statementTimeoutMs + CLIENT_MARGIN_MS };
  const settingsFor = (scope: RowScope, planning?: Planning) =>
    transactionSettings(role, scope, statementTimeoutMs, planning, database.isPooled);

  const explain = (error: unknown): unknown => {
    if (limits.blamesStatement && isStatementTimeout(error)) return queryTooExpensive(statementTimeoutMs, error);
    metrics?.dbErrors.inc({ sqlstate_class: sqlState(error)?.slice(0, 2) ?? 'none' });
    return asProblem(error);
  };

  return {
    query: (tenantId, sql, params, planning) =>
      clients.withClient(tenantId, explain, async client => {
        const statement = { ...prepared(sql, params), ...clientTimeout };
        const query = Object.assign(
          new ScopedQuery(settingsFor(tenantScope(tenantId), planning), statement),
          clientTimeout,
        );
        client.query(query as never);
        return (await query.outcome).rows;
      }),
    transact: (scope, work) =>
      clients.withClient(scope.tenantId, explain, async client => {
        const opened = Promise.all([client.query(BEGIN), client.query<ServerDurability>(settingsFor(scope))]);
        try {
          const [result, [, settings]] = await Promise.all([work(client), opened]);
          if (requireDurable) refuseLax(settings.rows[0]);
          await commit(client);
          return result;
        } catch (error) {
          await Promise.allSettled([opened, client.query('rollback')]);
          throw error;
        }
      }),
    transactionOn: client => transactionOn(client, clientTimeout),
  };
}

/**
 * Returns a storage whose transactions are executed by `transact`, each separately or all in the same one. Statements of
 * a tenant outside of a transaction are executed by `query`.
 */
function storageOn(
  database: OpenDatabase,
  { query: querySeparately, transact, transactionOn }: Runner,
  query: TenantQuery,
  inTransaction: Storage['inTransaction'],
): Storage {
  const run = <T>(scope: RowScope, work: (tx: Transaction) => Promise<T>): Promise<T> =>
    transact(scope, client => work(transactionOn(client)));
  return {
    forTenant: tenantId => ({
      tenantId,
      query: (sql, params = [], planning) => query(tenantId, sql, params, planning) as Promise<never>,
      transaction: work => run(tenantScope(tenantId), work),
      unitOfWork: work =>
        transact(tenantScope(tenantId), client =>
          unitOfWorkOn(database.orm, client, em => work(em, transactionOn(client))),
        ),
    }),
    forAccount: accountId => ({
      accountId,
      transaction: (work, tenantId = '') => run({ tenantId, accountId }, work),
    }),
    query: (sql, params = []) => querySeparately('', sql, params) as Promise<never>,
    transaction: work => run(tenantScope(''), work),
    inTransaction,
    reading: statementTimeoutMs => storageWith(database, { statementTimeoutMs, blamesStatement: true }),
    maintaining: statementTimeoutMs => storageWith(database, { statementTimeoutMs, blamesStatement: false }),
    findLaxSettings: async () => {
      const rows = await querySeparately('', `select ${SERVER_DURABILITY_COLUMNS}`, []);
      return findLaxSettings(rows[0] as ServerDurability);
    },
    close: database.close,
  };
}

/** Runs a MikroORM unit of work on a connection in a transaction. */
async function unitOfWorkOn<T>(orm: MikroORM, client: PoolClient, work: (em: EntityManager) => Promise<T>): Promise<T> {
  const em = orm.em.fork();
  em.setTransactionContext(transactionContext(client));
  const result = await work(em);
  await em.flush();
  return result;
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
