import { Client, type ClientBase } from 'pg';

/** For how long a connection is waited for. */
const CONNECT_TIMEOUT_MS = 2500;

/**
 * Makes a connection that breaks fail what runs on it, or will, and nothing else.
 *
 * node-postgres emits an `error` besides, which ends the process where nobody listens; and a pool does not listen to a
 * connection that it has handed out. So every connection of a pool is given to this (its event `connect`).
 */
export const outlive = (client: ClientBase): void => void client.on('error', () => undefined);

/** Does work on a connection of its own, which ends with the work. `url` is a connection string. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  outlive(client);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined); // of a connection that is gone already
  }
}
