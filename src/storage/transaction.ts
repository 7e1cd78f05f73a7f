import { createHash } from 'node:crypto';
import type { PoolClient, QueryResult } from 'pg';
import pg from 'pg';

/** Something that runs one statement after another: a transaction. */
export interface Session {
  query<Row extends object = Record<string, unknown>>(sql: string, params?: unknown[]): Promise<Row[]>;
}

/** Whose rows the statements of a transaction see: a tenant's, a person's, or both. */
export interface Name {
  tenantId: string;
  accountId: string;
}

export const nameTenant = (tenantId: string): Name => ({ tenantId, accountId: '' });

/** Texts of our own statements to the name under which each connection prepares them once. */
const statementNames = new Map<string, string>();
const MAX_PREPARED = 500;

function statementName(sql: string): string | undefined {
  const known = statementNames.get(sql);
  if (known || statementNames.size >= MAX_PREPARED) return known;
  const name = `p_${createHash('sha1').update(sql).digest('base64url')}`;
  statementNames.set(sql, name);
  return name;
}

/** A statement of ours for a connection, which prepares it once. */
export const prepared = (sql: string, params: unknown[]) => ({
  name: statementName(sql),
  text: sql,
  values: params,
  types: pg.types,
});

/** Changes whose rows the rest of an open transaction sees. */
const NAME = "select set_config('parley.tenant', $1, true), set_config('parley.account', $2, true)";

const sendName = (client: PoolClient, { tenantId, accountId }: Name): Promise<unknown> =>
  client.query(prepared(NAME, [tenantId, accountId]));

/** Statements on a connection that is in a transaction; `options` are those of node-postgres for each. */
export const sessionOn = (client: PoolClient, options: { query_timeout?: number } = {}): Session => ({
  query: async <Row extends object>(sql: string, params: unknown[] = []) =>
    ((await client.query({ ...prepared(sql, params), ...options })) as QueryResult<Row>).rows,
});

/** Commits, or throws: PostgreSQL itself only rolls back where a statement had failed and nobody minded. */
export async function commit(client: PoolClient): Promise<void> {
  const { command } = await client.query('commit');
  if (command !== 'COMMIT') throw new Error('Cannot commit a transaction with a failed statement.');
}

/** A connection in a transaction as MikroORM sees one: it makes the statement, we send it. */
export const transactionContext = (client: PoolClient) => ({
  async executeQuery({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) {
    const { rows, rowCount } = await client.query(sql, [...parameters]);
    return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
  },
});

/** Runs work on a connection that is in a transaction and named. */
export type Transact = <T>(name: Name, work: (client: PoolClient) => Promise<T>) => Promise<T>;

/** A transaction that holds nothing until it is needed. */
export interface LazyTransaction {
  /** Work in the transaction, which the first of it opens. */
  run: Transact;
  /** Commits when `work` is done, and undoes when it throws. */
  around<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * One transaction for all that is run in it, made by `transact`.
 *
 * What runs at the same time must be named alike: the name is a setting of the one connection.
 */
export function openLazily(transact: Transact): LazyTransaction {
  const ending = Promise.withResolvers<void>();
  ending.promise.catch(() => undefined); // heard by the transaction, where there is one
  let opened: Promise<PoolClient> | undefined;
  let closed: Promise<void> | undefined;
  let isOver = false;
  let running = 0;
  let current = '';

  const open = (name: Name): Promise<PoolClient> => {
    const { promise, resolve, reject } = Promise.withResolvers<PoolClient>();
    closed = transact(name, client => {
      resolve(client);
      return ending.promise;
    });
    closed.catch(reject);
    return promise;
  };

  const take = (name: Name): void => {
    const wanted = `${name.tenantId} ${name.accountId}`;
    if (isOver) throw new Error('The transaction has ended.');
    if (running > 0 && wanted !== current)
      throw new Error('A connection cannot be scoped to two tenants or accounts at a time.');
    current = wanted;
    running++;
  };

  return {
    async run(name, work) {
      take(name);
      try {
        opened ??= open(name);
        const client = await opened;
        const named = sendName(client, name); // before the work's own statements, on the same connection
        return (await Promise.all([work(client), named]))[0];
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
        await closed; // throws the same, as the problem that callers know
        throw error;
      }
    },
  };
}
