import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { withPlainClient } from '../../platform/postgres-client.ts';
import { type DatabaseUrl, directUrlOf, isPooled, urlOf } from '../../platform/store-urls.ts';

/** How long a notification may take. In transaction mode it never arrives. */
const NOTIFICATION_TIMEOUT_MS = 2500;
const CHANNEL = 'parley_probe';

/**
 * Whether the server process that a connection was promised when it opened (BackendKeyData) is the one that executes its
 * statements. Poolers promise a process of their own, in either mode; a proxy that only forwards bytes does not.
 */
async function isDirect(client: Client & { processID?: number | null }): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid === client.processID;
}

/**
 * Whether a connection that leads to a pooler has a PostgreSQL session of its own, as in session mode.
 *
 * It listens, and another connection notifies it while it is idle. In transaction mode, an idle connection has no session
 * from which a notification could come, under any load and in any order of sessions.
 */
async function receivesWhileIdle(client: Client, other: Client): Promise<boolean> {
  const sent = randomUUID();
  const { promise: received, resolve } = Promise.withResolvers<boolean>();
  client.on('notification', ({ payload }) => payload === sent && resolve(true));
  await client.query(`listen ${CHANNEL}`);
  await other.query('select pg_notify($1, $2)', [CHANNEL, sent]);
  return Promise.race([received, sleep(NOTIFICATION_TIMEOUT_MS, false, { ref: false })]);
}

/** Whether connections have sessions of their own: without a pooler, or with one in session mode. */
const keepsSessions = (url: string): Promise<boolean> =>
  withPlainClient(
    url,
    async client => (await isDirect(client)) || withPlainClient(url, other => receivesWhileIdle(client, other)),
  );

/**
 * Whether statements that a connection has prepared can be executed in each session of a pooler.
 *
 * A pooler that provides them in each session has to replace their names, which those of other clients may equal.
 */
const renamesPrepared = (url: string): Promise<boolean> =>
  withPlainClient(url, async client => {
    const name = `parley_probe_${randomUUID()}`;
    await client.query('begin'); // all of the following in one session
    await client.query({ name, text: 'select 1' });
    const { rowCount } = await client.query('select from pg_prepared_statements where name = $1', [name]);
    if (rowCount !== 0) await client.query(`deallocate "${name}"`); // the session goes to other clients
    await client.query('rollback');
    return rowCount === 0;
  });

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
  if (!isPooled(database)) return (await keepsSessions(urlOf(database))) ? undefined : NO_DIRECT_URL;
  if (!(await keepsSessions(directUrlOf(database)))) return POOLED_DIRECT_URL;
  const url = urlOf(database);
  return (await renamesPrepared(url)) || (await keepsSessions(url)) ? undefined : LOSES_PREPARED;
}
