import { Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Pool, PoolClient } from 'pg';
import { Problem } from '../domain/problem.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { ENTITIES } from './entities/index.ts';
import { asProblem, sqlState } from './errors.ts';
import { MIGRATIONS } from './migrations/index.ts';
import {
  commit,
  nameTenant,
  openLazily,
  prepared,
  type Session,
  sendName,
  sessionOn,
  type Transact,
  transactionContext,
} from './transaction.ts';

/** The database role a process acts as: it decides which rows row-level security shows. */
export type StorageRole = 'parley_app' | 'parley_worker';

/** The rows of one tenant. Every statement runs under that tenant's row-level security. */
export interface TenantStorage {
  readonly tenantId: string;
  /** One statement, sent in one flight with the setting that names the tenant. */
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
  close(): Promise<void>;
}

export interface StorageOptions {
  url: string;
  role: StorageRole;
  connections: number;
  log: Log;
  metrics?: Metrics;
}

const CONNECT_TIMEOUT_MS = 2500;
const STATEMENT_TIMEOUT_MS = 10_000;
/** As long as a worker holds its jobs: one that stands still for longer loses them, and with them its transaction. */
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000;
/** Beyond the server's own time-out: for a server that does not answer at all. */
const CLIENT_TIMEOUT_MS = 12_000;

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
    disableForeignKeys: false,
    silent: true,
  },
  schemaGenerator: { ignorePolicies: true, ignoreTriggers: true, ignoreRoutines: true },
  logger: (message: string) => log.debug(message),
});

type TenantQuery = (tenantId: string, sql: string, params: unknown[]) => Promise<unknown[]>;

/** MikroORM on the rights of the connection's own user: for migrations and their test alone. */
export const openOrm = (url: string, log: Log) => MikroORM.init(ormOptions(url, log));

/**
 * The database for one process, as a role that row-level security binds.
 *
 * Opens lazily: a database that is away is an error of the statement that needs it, never of the start. Failures of
 * the infrastructure come out as the problem `database-unavailable`.
 */
export function openStorage({ url, role, connections, log, metrics }: StorageOptions): Storage {
  const settings = `set role ${role}; set statement_timeout = ${STATEMENT_TIMEOUT_MS}; set lock_timeout = 5000; set idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_TIMEOUT_MS}; set timezone = 'UTC'; set plan_cache_mode = force_generic_plan`;
  const options = ormOptions(url, log);
  const orm = new MikroORM({
    ...options,
    driverOptions: {
      ...options.driverOptions,
      max: connections,
      pipeline: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CLIENT_TIMEOUT_MS,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      application_name: role,
      onConnect: (client: PoolClient) => client.query(settings),
    },
  });
  let pool: Pool | undefined;

  const connect = async (): Promise<PoolClient> => {
    const startedAt = performance.now();
    pool ??= (await orm.em.getConnection().getNativeClient()) as Pool;
    const client = await pool.connect();
    metrics?.dbPoolWait.observe((performance.now() - startedAt) / 1000);
    return client;
  };

  const withClient = async <T>(work: (client: PoolClient) => Promise<T>): Promise<T> => {
    let client: PoolClient | undefined;
    let failure: Error | undefined;
    try {
      client = await connect();
      return await work(client);
    } catch (error) {
      if (error instanceof Problem) throw error; // our own refusal: no statement failed, and the transaction is undone
      failure = error as Error;
      metrics?.dbErrors.inc({ sqlstate_class: sqlState(error)?.slice(0, 2) ?? 'none' });
      throw asProblem(error);
    } finally {
      // A connection whose state is in doubt is not given back: a failed statement leaves it clean, anything else not.
      client?.release(failure !== undefined && sqlState(failure) === undefined);
    }
  };

  /** Sends the tenant's name and the statement together; the setting is renewed before every statement. */
  const queryAs = (tenantId: string, sql: string, params: unknown[]) =>
    withClient(async client => {
      const [, result] = await Promise.all([
        client.query(prepared("select set_config('parley.tenant', $1, false)", [tenantId])),
        client.query(prepared(sql, params)),
      ]);
      return result.rows;
    });

  /** One transaction; its settings end with it. */
  const transact: Transact = (name, work) =>
    withClient(async client => {
      const opened = Promise.all([client.query('begin'), sendName(client, name)]);
      try {
        const [result] = await Promise.all([work(client), opened]);
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
      transaction: work => run(nameTenant(tenantId), client => work(sessionOn(client))),
      unitOfWork: work => run(nameTenant(tenantId), client => unitOfWorkOn(client, work)),
    }),
    forAccount: accountId => ({
      accountId,
      transaction: (work, tenantId = '') => run({ tenantId, accountId }, client => work(sessionOn(client))),
    }),
    query: (sql, params = []) => queryAs('', sql, params) as Promise<never>,
    transaction: work => run(nameTenant(''), client => work(sessionOn(client))),
    ...more,
    close,
  });

  const inOneTransaction = async <T>(work: (storage: Storage) => Promise<T>): Promise<T> => {
    const one = openLazily(transact);
    const query: TenantQuery = (tenantId, sql, params) =>
      one.run(nameTenant(tenantId), client => sessionOn(client).query(sql, params));
    const storage = storageOn(one.run, query, { inOneTransaction: inner => inner(storage) });
    return one.around(() => work(storage));
  };

  const close = async () => {
    await orm.close(true);
    if (pool && !pool.ending) await pool.end(); // MikroORM ends only a pool that it has sent a statement through itself
  };

  metrics?.onScrape(async () => {
    if (!pool) return;
    metrics.dbPool.set({ state: 'idle' }, pool.idleCount);
    metrics.dbPool.set({ state: 'used' }, pool.totalCount - pool.idleCount);
    metrics.dbPool.set({ state: 'waiting' }, pool.waitingCount);
  });

  return storageOn(transact, queryAs, { inOneTransaction });
}
