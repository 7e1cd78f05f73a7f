import { createServer, type Server } from 'node:net';
import { Redis } from 'ioredis';
import { Client, Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isTimeout, TimeoutError, withTimeout } from '../../src/platform/timeouts.ts';
import { failureKind } from '../../src/queue/store-failure.ts';
import { backends } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { createProxy } from '../support/proxy.ts';
import { stores } from '../support/stores.ts';

const LIMIT_MS = 100;

const errorOf = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.fail('there was no error'),
    error => error,
  );

test('a promise that times out is named in the error', async () => {
  const late = await errorOf(withTimeout(new Promise(() => undefined), 10, 'the answer'));
  expect(late).toBeInstanceOf(TimeoutError);
  expect(late.message).toBe('the answer took longer than 10 ms');
  await expect(withTimeout(Promise.resolve(1), 10, 'the answer')).resolves.toBe(1);
});

describe('a time-out is recognised', () => {
  /** Accepts connections and never replies. */
  let silent: Server;
  let port: number;
  beforeAll(async () => {
    silent = createServer().listen(0, '127.0.0.1');
    await new Promise(resolve => silent.once('listening', resolve));
    port = (silent.address() as { port: number }).port;
  });
  afterAll(() => void silent.close());

  test('of a command of ioredis', async () => {
    const redis = new Redis({ port, lazyConnect: true, enableReadyCheck: false, commandTimeout: LIMIT_MS });
    redis.on('error', () => undefined);
    const error = await errorOf(redis.ping());
    redis.disconnect();
    expect([isTimeout(error), failureKind(error)]).toEqual([true, 'timeout']);
  });

  test('of a connection to PostgreSQL, alone or in a pool', async () => {
    const options = { host: '127.0.0.1', port, connectionTimeoutMillis: LIMIT_MS };
    const client = new Client(options);
    client.on('error', () => undefined);
    const pool = new Pool({ ...options, max: 1 });
    const [alone, first, second] = await Promise.all(
      [client.connect(), pool.connect(), pool.connect()].map(connecting => errorOf(connecting)),
    );
    expect([alone, first, second].map(isTimeout)).toEqual([true, true, true]);
  });

  test('of a statement, by the server and by its client', async () => {
    await using database = await createDatabase();
    await using proxy = await createProxy(database.url);
    const client = new Client({ connectionString: proxy.through(database.url) });
    client.on('error', () => undefined);
    await client.connect();
    const stopped = await errorOf(client.query(`set statement_timeout = ${LIMIT_MS}; select pg_sleep(10)`));
    proxy.freeze();
    const silent = await errorOf(client.query({ text: 'select 1', query_timeout: LIMIT_MS } as never));
    void client.end().catch(() => undefined);
    expect([stopped, silent].map(isTimeout)).toEqual([true, true]);
  });

  test('as the cause of another error, and not by the words of one', () => {
    expect(isTimeout(new Error('x', { cause: new TimeoutError('y') }))).toBe(true);
    expect(isTimeout(new Error('Missing lock for job timeout. longer than'))).toBe(false);
    expect(isTimeout('Command timed out')).toBe(false);
  });
});

test.runIf(backends().includes('valkey'))('an error reply is named by its code', async () => {
  const { valkeyUrl = '' } = await stores();
  const redis = new Redis(valkeyUrl);
  await redis.set('parley:test:text', 'x');
  const wrong = await errorOf(redis.lpush('parley:test:text', 'y'));
  const piped = (await redis.pipeline().lpush('parley:test:text', 'y').exec())?.[0]?.[0];
  await redis.del('parley:test:text');
  redis.disconnect();
  expect([failureKind(wrong), failureKind(piped)]).toEqual(['WRONGTYPE', 'WRONGTYPE']);
  expect(failureKind(new Error('Connection is closed.'))).toBe('connection');
});
