import { createServer } from 'node:net';
import type { ClientBase } from 'pg';
import { expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { awaitServer, probeServer, withClient } from '../../src/platform/postgres-client.ts';
import { connectQueue } from '../../src/queue/connection.ts';
import { createDatabase } from '../support/database.ts';

const backendOf = async (client: ClientBase): Promise<number> => {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
};

test('a connection closed by the server fails its current or next work, and nothing else', async () => {
  await using database = await createDatabase();
  const end = async (pid: number) => await database.query('select pg_terminate_backend($1, 5000)', [pid]);

  const resting = withClient(database.url, async client => {
    const ended = new Promise(resolve => client.once('end', resolve));
    await end(await backendOf(client));
    await ended; // with an earlier error event, which would end the process without a listener
    return client.query('select 1');
  });
  await expect(resting).rejects.toThrow();

  const waiting = withClient(database.url, async client => {
    const pid = await backendOf(client);
    const [sleep] = await Promise.allSettled([client.query('select pg_sleep(30)'), end(pid)]);
    if (sleep.status === 'rejected') throw sleep.reason;
  });
  await expect(waiting).rejects.toThrow('terminating connection');
});

test('the connection is closed after the work, failed or not', async () => {
  await using database = await createDatabase();
  const pid = await withClient(database.url, backendOf);
  const failed = withClient(database.url, async () => {
    throw new Error('not so');
  });
  await expect(failed).rejects.toThrow('not so');
  const others = async () =>
    (
      await database.query(
        'select pid from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
      )
    ).length;
  expect(pid).toBeGreaterThan(0);
  await expect.poll(others).toBe(0);
});

test('a connection closed by the server while checked out of a pool affects nothing else', async () => {
  await using database = await createDatabase();
  const connection = connectQueue({ databaseUrl: database.url, redisUrl: undefined }, createLog('silent', 'test'));
  const client = await connection.pool?.connect();
  if (!client) throw new Error('there is no pool');
  const ended = new Promise(resolve => client.once('end', resolve));
  await database.query('select pg_terminate_backend($1, 5000)', [await backendOf(client)]);
  await ended;
  client.release(true);
  await connection.close();
});

/** A server that rejects every connection with this SQLSTATE. */
async function startRefusing(sqlState: string) {
  const fields = `SFATAL\0C${sqlState}\0Mrefused\0\0`;
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + fields.length);
  const reply = Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)]);
  const server = createServer(socket => socket.on('error', () => undefined).once('data', () => socket.end(reply)));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { url: `postgresql://x:x@127.0.0.1:${port}/x`, [Symbol.dispose]: () => void server.close() };
}

test('a server in recovery is starting, one that rejects for another reason is unavailable', async () => {
  await using database = await createDatabase();
  using recovering = await startRefusing('57P03');
  using refusing = await startRefusing('53300');
  expect(await Promise.all([database.url, recovering.url, refusing.url].map(probeServer))).toEqual([
    'ready',
    'starting',
    'away',
  ]);
});

test('a server is awaited as long as it is starting, and for a limited time while it is unavailable', async () => {
  const startedAt = Date.now();
  const recover = async () => (Date.now() - startedAt < 300 ? 'starting' : 'ready');
  expect(await awaitServer(recover, 50, 10)).toBe(true);
  expect(await awaitServer(async () => 'away', 50, 10)).toBe(false);
});
