import type { Client } from 'pg';
import { withPlainClient } from '../platform/postgres-client.ts';
import { type DatabaseUrl, directUrlOf, isPooled, urlOf } from '../platform/store-urls.ts';
import { sqlState } from './errors.ts';

/** Identifies a PostgreSQL session, on any server. */
const SESSION = "select concat(pid, ' ', backend_start) as session from pg_stat_activity where pid = pg_backend_pid()";

const TRIES = 3;

const readSession = async (client: Client): Promise<string> =>
  (await client.query<{ session: string }>(SESSION)).rows[0]?.session ?? '';

/**
 * Whether a pooler assigns PostgreSQL sessions per transaction.
 *
 * Two connections each query their session twice. Behind such a pooler, the second result differs, or equals the other
 * connection's. A LISTEN or a lock on one connection would then belong to others.
 */
const isPooledByTransaction = (url: string): Promise<boolean> =>
  withPlainClient(url, first =>
    withPlainClient(url, async second => {
      for (let tries = 0; tries < TRIES; tries++) {
        const sessions = [await readSession(first), await readSession(first), await readSession(second)];
        if (sessions[0] !== sessions[1] || sessions[1] === sessions[2]) return true;
      }
      return false;
    }),
  );

/** A statement that a connection prepares once. */
const PREPARED = { name: 'parley_probe', text: 'select 1' };
const UNKNOWN_STATEMENT = '26000';

/** Whether a statement that was prepared in one session of a pooler can be executed in another one. */
const keepsPrepared = (url: string): Promise<boolean> =>
  withPlainClient(url, first =>
    withPlainClient(url, async second => {
      await first.query(PREPARED);
      await second.query('begin'); // gets the most recently released session: the one with the statement
      try {
        await first.query(PREPARED);
        return true;
      } catch (error) {
        if (sqlState(error) === UNKNOWN_STATEMENT) return false;
        throw error;
      }
    }),
  );

/** Why the sessions of the configured connections are unsuitable, and the remedy: parts of one sentence. */
export interface PoolerFault {
  detail: string;
  remedy: string;
}

const NO_DIRECT_URL: PoolerFault = {
  detail: 'a pooler is in transaction mode',
  remedy: 'set DATABASE_DIRECT_URL to the URL of PostgreSQL itself, or switch the pooler to session mode',
};
const POOLED_DIRECT_URL: PoolerFault = {
  detail: 'DATABASE_DIRECT_URL leads to a pooler in transaction mode',
  remedy: 'set it to the URL of PostgreSQL itself',
};
const LOSES_PREPARED: PoolerFault = {
  detail: 'the pooler does not keep prepared statements',
  remedy: 'use PgBouncer 1.21 or newer with max_prepared_statements above 0',
};

/** Returns the fault of the configured connections; undefined if they are suitable. */
export async function findPoolerFault(database: DatabaseUrl): Promise<PoolerFault | undefined> {
  if (!isPooled(database)) return (await isPooledByTransaction(urlOf(database))) ? NO_DIRECT_URL : undefined;
  if (await isPooledByTransaction(directUrlOf(database))) return POOLED_DIRECT_URL;
  return (await keepsPrepared(urlOf(database))) ? undefined : LOSES_PREPARED;
}
