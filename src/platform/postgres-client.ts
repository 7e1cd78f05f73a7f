import { Client } from 'pg';

/** For how long a connection is waited for. */
const CONNECT_WITHIN_MS = 2500;

/**
 * Does work on a connection of its own, which ends with the work. `url` is a connection string.
 *
 * A server that goes away meanwhile fails the work, and nothing else: the `error` event that node-postgres emits besides
 * would end the process if nobody listened.
 */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_WITHIN_MS });
  client.on('error', () => undefined); // what runs on the connection rejects with the same
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined); // of a connection that is gone already
  }
}
