import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientBase, type ClientConfig } from 'pg';
import { SESSION_SETTINGS } from './postgres-session.ts';
import { type DatabaseUrl, directUrlOf, isPooled, urlOf } from './store-urls.ts';

/** Connection time-out. */
const CONNECT_TIMEOUT_MS = 2500;

/**
 * Prevents a broken connection from ending the process; its statements still fail.
 *
 * node-postgres also emits an `error`, which ends the process without a listener, and a pool does not listen on
 * connections in use. Use it as the pool's `connect` listener.
 */
export const outlive = (client: ClientBase): void => void client.on('error', () => undefined);

/**
 * Options of a pool whose connections each read the URL when they are opened, so that a changed password is used
 * without a restart. With `direct`, past a pooler.
 */
export const readsUrl = (database: DatabaseUrl, direct = false) => ({
  Client: class extends Client {
    constructor(options?: ClientConfig) {
      super({ ...options, connectionString: (direct ? directUrlOf : urlOf)(database) });
    }
  },
});

/** Runs work on a separate connection past any pooler, which is closed afterwards. */
export const withDirectClient = <T>(database: DatabaseUrl, work: (client: Client) => Promise<T>): Promise<T> =>
  withClient(directUrlOf(database), work);

/** Runs work on a separate connection, which is closed afterwards. Results do not depend on the database's defaults. */
export const withClient = <T>(database: DatabaseUrl, work: (client: Client) => Promise<T>): Promise<T> =>
  withPlainClient(database, async client => {
    if (!isPooled(database)) await client.query(SESSION_SETTINGS);
    return work(client);
  });

/** As `withClient`, with the settings of the session as they are: those of other clients behind a pooler. */
export async function withPlainClient<T>(database: DatabaseUrl, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: urlOf(database), connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  outlive(client);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined); // the connection is gone already
  }
}

/** Whether a server accepts connections, is still starting (recovery after a crash takes minutes), or does not reply. */
export type ServerState = 'ready' | 'starting' | 'away';

const CANNOT_CONNECT_NOW = '57P03';

/** Returns the state of a server by its connection string. Never rejects. */
export const probeServer = (url: DatabaseUrl): Promise<ServerState> =>
  withPlainClient(url, client => client.query('select 1')).then(
    () => 'ready',
    error => (error.code === CANNOT_CONNECT_NOW ? 'starting' : 'away'),
  );

/**
 * Resolves to true once a server is ready, and to false when it was unreachable for `withinMs`.
 *
 * Recovery has no time limit: a server stopped during recovery starts it again.
 */
export async function awaitServer(probe: () => Promise<ServerState>, withinMs: number, everyMs = 50): Promise<boolean> {
  for (let deadline = Date.now() + withinMs; ; await sleep(everyMs)) {
    const state = await probe();
    if (state === 'ready') return true;
    if (state === 'starting') deadline = Date.now() + withinMs;
    else if (Date.now() > deadline) return false;
  }
}
