import { createHash } from 'node:crypto';
import type { PoolClient, QueryResult } from 'pg';
import pg from 'pg';

/** A database transaction, which runs statements in order. */
export interface Transaction {
  query<Row extends object = Record<string, unknown>>(sql: string, params?: unknown[]): Promise<Row[]>;
}

/** The rows visible to a transaction's statements: a tenant's, a person's, or both. */
export interface RowScope {
  tenantId: string;
  accountId: string;
}

export const tenantScope = (tenantId: string): RowScope => ({ tenantId, accountId: '' });

/** Names of prepared statements by SQL text. Connections keep a statement until they close, so names are not evicted. */
const statementNames = new Map<string, string>();

/** The texts of all statements that this process has prepared. */
export const preparedTexts = (): string[] => [...statementNames.keys()];

/** Begins statements that are sent without a name. */
const VARIES = '/* varies */ ';

/**
 * Marks a statement whose text depends on the filters of a request.
 *
 * Each connection would keep the plans of all combinations that anybody has tried: PostgreSQL needs 100 to 400 kB for one.
 * Instead, it parses and plans the statement each time.
 */
export const varying = (sql: string): string => VARIES + sql;

function statementName(sql: string): string | undefined {
  if (sql.startsWith(VARIES)) return undefined;
  const known = statementNames.get(sql);
  if (known) return known;
  const name = `p_${createHash('sha1').update(sql).digest('base64url')}`;
  statementNames.set(sql, name);
  return name;
}

/** A statement that each connection prepares once, unless its text varies. */
export const prepared = (sql: string, params: unknown[]) => ({
  name: statementName(sql),
  text: sql,
  values: params,
  types: pg.types,
});

/** Sets the scope for the rest of an open transaction. */
const SET_SCOPE = "select set_config('parley.tenant', $1, true), set_config('parley.account', $2, true)";

const sendScope = (client: PoolClient, { tenantId, accountId }: RowScope): Promise<unknown> =>
  client.query(prepared(SET_SCOPE, [tenantId, accountId]));

/** Returns a `Transaction` on a connection. `options` are passed to node-postgres with each statement. */
export const transactionOn = (client: PoolClient, options: { query_timeout?: number } = {}): Transaction => ({
  query: async <Row extends object>(sql: string, params: unknown[] = []) =>
    ((await client.query({ ...prepared(sql, params), ...options })) as QueryResult<Row>).rows,
});

/** Commits, or throws: after an ignored failed statement, PostgreSQL silently rolls back. */
export async function commit(client: PoolClient): Promise<void> {
  const { command } = await client.query('commit');
  if (command !== 'COMMIT') throw new Error('Cannot commit a transaction with a failed statement.');
}

/** A connection in a transaction as MikroORM's transaction context. MikroORM builds the statements, this sends them. */
export const transactionContext = (client: PoolClient) => ({
  async executeQuery({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) {
    const { rows, rowCount } = await client.query(sql, [...parameters]);
    return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
  },
});

/** Runs work on a connection that is in a transaction with this scope. */
export type Transact = <T>(scope: RowScope, work: (client: PoolClient) => Promise<T>) => Promise<T>;

/** A transaction that opens with its first use. */
export interface LazyTransaction {
  /** Runs work in the transaction, and opens it the first time. */
  run: Transact;
  /** Commits when `work` resolves, and rolls back when it throws. */
  around<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Creates one transaction, by `transact`, for all work passed to `run`.
 *
 * Concurrent work must have the same scope, which is a setting of the connection.
 */
export function openLazyTransaction(transact: Transact): LazyTransaction {
  const ending = Promise.withResolvers<void>();
  ending.promise.catch(() => undefined); // handled by the transaction, if it is open
  let opened: Promise<PoolClient> | undefined;
  let closed: Promise<void> | undefined;
  let isOver = false;
  let running = 0;
  let current = '';

  const open = (scope: RowScope): Promise<PoolClient> => {
    const { promise, resolve, reject } = Promise.withResolvers<PoolClient>();
    closed = transact(scope, client => {
      resolve(client);
      return ending.promise;
    });
    closed.catch(reject);
    return promise;
  };

  const enter = (scope: RowScope): void => {
    const wanted = `${scope.tenantId} ${scope.accountId}`;
    if (isOver) throw new Error('The transaction has ended.');
    if (running > 0 && wanted !== current)
      throw new Error('A connection cannot be scoped to two tenants or accounts at a time.');
    current = wanted;
    running++;
  };

  return {
    async run(scope, work) {
      enter(scope);
      try {
        opened ??= open(scope);
        const client = await opened;
        const scoped = sendScope(client, scope); // before the work's own statements, on the same connection
        return (await Promise.all([work(client), scoped]))[0];
      } finally {
        running--;
      }
    },
    async around(work) {
      try {
        const result = await work();
        isOver = true;
        ending.resolve();
        await closed;
        return result;
      } catch (error) {
        isOver = true;
        ending.reject(error);
        await closed; // throws the same error as a `Problem`
        throw error;
      }
    },
  };
}
