import { Client, type ClientBase } from 'pg';

/** Connection time-out. */
const CONNECT_TIMEOUT_MS = 2500;

/**
 * Prevents a broken connection from ending the process; its statements still fail.
 *
 * node-postgres also emits an `error`, which ends the process without a listener, and a pool does not listen on
 * connections in use. Use it as the pool's `connect` listener.
 */
export const outlive = (client: ClientBase): void => void client.on('error', () => undefined);

/** Runs work on a separate connection, which is closed afterwards. `url` is a connection string. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  outlive(client);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined); // the connection is gone already
  }
}
