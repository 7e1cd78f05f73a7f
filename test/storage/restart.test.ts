import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { MAX_WAIT_MS } from '../../src/storage/database/client-pool.ts';
import { openStorage, type Storage } from '../../src/storage/database/orm.ts';
import { createDatabase } from '../support/database.ts';
import { freePort } from '../support/process.ts';

/** A storage whose server refuses connections until `start` is called. */
async function openStopped(target: string): Promise<{ storage: Storage; start(): Promise<void> } & AsyncDisposable> {
  const { hostname, port } = new URL(target);
  const url = new URL(target);
  [url.hostname, url.port] = ['127.0.0.1', String(await freePort())];
  const server = createServer(client => {
    const store = connect(Number(port), hostname);
    pipeline(client, store, client, () => undefined); // a connection that ends with the storage
  });
  const storage = openStorage({ url: url.href, role: 'parley_app', connections: 2, log: createLog('silent', 'test') });
  return {
    storage,
    start: async () => void (await once(server.listen(Number(url.port), '127.0.0.1'), 'listening')),
    [Symbol.asyncDispose]: async () => {
      await storage.close();
      server.close();
    },
  };
}

test('statements and transactions wait for a server that restarts', async () => {
  await using database = await createDatabase();
  await using stopped = await openStopped(database.url);
  const { storage } = stopped;
  const waiting = [
    storage.query('select 1 as one'),
    storage.transaction(tx => tx.query('select 1 as one')),
    storage.query('select 1 as one'), // behind the others, for one of two connections
  ];
  await sleep(MAX_WAIT_MS / 2);
  await stopped.start();
  expect(await Promise.all(waiting)).toEqual([[{ one: 1 }], [{ one: 1 }], [{ one: 1 }]]);
});

test('they fail as unavailable when it refuses for longer, and at once when it has done so for 10 s', async () => {
  await using database = await createDatabase();
  await using stopped = await openStopped(database.url);
  const begun = performance.now();
  await expect(stopped.storage.query('select 1')).rejects.toMatchObject({ code: 'database-unavailable' });
  const waited = performance.now() - begun;
  expect(waited).toBeGreaterThan(MAX_WAIT_MS - 500);
  expect(waited).toBeLessThan(MAX_WAIT_MS + 1500);
  const failAll = async (until: number) => {
    while (performance.now() < until)
      await expect(stopped.storage.query('select 1')).rejects.toMatchObject({ code: 'database-unavailable' });
  };
  await failAll(begun + 10_500);
  const later = performance.now();
  await expect(stopped.storage.query('select 1')).rejects.toMatchObject({ code: 'database-unavailable' });
  expect(performance.now() - later).toBeLessThan(1000); // the server is down, and does not restart
  await stopped.start();
  await expect(stopped.storage.query('select 1 as one')).resolves.toEqual([{ one: 1 }]);
});
