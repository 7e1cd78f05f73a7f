import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { newSecretKey } from '../support/keychain.ts';
import { startProcess } from '../support/process.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const environment = () => ({ DATABASE_URL: database.url, SECRET_KEY: newSecretKey() });

/** Replaces a method of BullMQ's workers in a process. */
const breakWorkers = (method: string, body: string): string[] => {
  const source = `import { Worker } from '${import.meta.resolve('bullmq')}'; Worker.prototype.${method} = ${body};`;
  return ['--import', `data:text/javascript,${encodeURIComponent(source)}`];
};

/** Starts a worker and returns its exit code and its output. */
async function startWorker(settings: Record<string, string>, nodeArgs: string[] = []) {
  await using worker = await startProcess('work', { ...environment(), ...settings }, nodeArgs);
  return { code: await worker.exited, output: worker.output() };
}

describe('a worker that cannot start', () => {
  test('because its port is in use exits with an error', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const METRICS_PORT = String((other.address() as AddressInfo).port);
    const { code, output } = await startWorker({ METRICS_PORT, HOST: '127.0.0.1', BASE_URI: 'https://x' });
    other.close();
    expect([code, output]).toEqual([
      1,
      expect.stringContaining(
        `parley: Another process uses port ${METRICS_PORT} of 127.0.0.1. Stop it, or set METRICS_PORT to another port.\n`,
      ),
    ]);
    expect(output).toMatch(/"level":"warn".*BASE_URI: is not a setting and is ignored/);
  });

  test.each([
    ['because the queue cannot be opened', 'on', '() => { throw new Error("broken") }'],
    ['because it cannot fetch jobs', 'run', 'async () => { throw new Error("broken") }'],
  ])('%s exits with an error', async (_, method, body) => {
    const { code, output } = await startWorker({}, breakWorkers(method, body));
    expect([code, output]).toEqual([1, expect.stringContaining('broken')]);
  });
});
