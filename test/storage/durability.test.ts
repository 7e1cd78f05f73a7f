import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { diagnose } from '../../src/commands/doctor.ts';
import { createLog } from '../../src/platform/log.ts';
import { connectQueue } from '../../src/queue/connection.ts';
import { recordAnswers } from '../../src/storage/answers/recording.ts';
import { openStorage, type Storage } from '../../src/storage/database/orm.ts';
import { backends, createApi, createWorker, type TestApi, waitFor } from '../support/api.ts';
import { anAcceptedAnswer, anAnswer, makeTenant, publishQuestion } from '../support/make.ts';
import { createOwnServer, type OwnServer } from '../support/own-server.ts';

const log = createLog('silent', 'test');
const SECRET_KEY = randomBytes(32).toString('base64');
let server: OwnServer;
let worker: Storage;

beforeAll(async () => {
  server = await createOwnServer();
  worker = openStorage({ url: server.url, role: 'parley_worker', connections: 2, requireDurable: true, log });
}, 300_000);
afterAll(async () => {
  await worker?.close();
  await server?.[Symbol.asyncDispose]();
});
afterEach(async () => {
  for (const name of ['synchronous_commit', 'fsync', 'full_page_writes']) await server.configure(name, undefined);
});

const SHOW = "select current_setting('synchronous_commit') as value";
const countAnswers = async () => (await server.query('select from answers')).length;

describe('a transaction', () => {
  test.each([
    ['off', 'on'],
    ['local', 'on'],
    ['remote_write', 'on'],
    ['remote_apply', 'remote_apply'],
  ])('of the storage commits under %s as under %s', async (set, used) => {
    await server.configure('synchronous_commit', set);
    const storage = server.storage();
    expect(await storage.transaction(session => session.query(SHOW))).toEqual([{ value: used }]);
    expect(await storage.forTenant(v7()).query(SHOW)).toEqual([{ value: used }]);
    expect(await storage.inTransaction(within => within.forTenant(v7()).query(SHOW))).toEqual([{ value: used }]);
  });
});

describe('a worker', () => {
  test.each(['fsync', 'full_page_writes'])(
    'stores nothing while %s is off, and continues when it is on',
    async name => {
      const before = await countAnswers();
      const flush = { flush: v7(), answers: [anAcceptedAnswer()] };
      await server.configure(name, 'off');
      await expect(recordAnswers(worker, [flush])).rejects.toMatchObject({
        code: 'database-unavailable',
        message: expect.stringContaining(`${name} is off`),
      });
      expect(await countAnswers()).toBe(before);
      await server.configure(name, undefined);
      expect(await recordAnswers(worker, [flush])).toEqual({ stored: 1, repeated: 0, quarantined: 0 });
    },
  );

  test('with QUEUE_DURABILITY=relaxed stores all the same', async () => {
    await server.configure('fsync', 'off');
    const relaxed = server.storage('parley_worker');
    expect(await recordAnswers(relaxed, [{ flush: v7(), answers: [anAcceptedAnswer()] }])).toMatchObject({ stored: 1 });
  });
});

describe('a queue in PostgreSQL', () => {
  test.each([
    [false, 'on'],
    [true, 'off'],
  ])('whose durability is relaxed (%s) adds jobs under synchronous_commit %s', async (relaxed, used) => {
    await server.query('alter database parley set synchronous_commit = off');
    const queue = connectQueue({ databaseUrl: server.url, redisUrl: undefined, relaxed }, log);
    expect((await queue.pool?.query(SHOW))?.rows).toEqual([{ value: used }]);
    await queue.close();
    await server.query('alter database parley reset synchronous_commit');
  });
});

describe.each(backends())('with the queue in %s', backend => {
  test('answers are rejected while fsync is off, queued ones stay queued, and both continue afterwards', async () => {
    const sharing = { database: server, secretKey: SECRET_KEY } as unknown as TestApi;
    Object.assign(sharing, { config: {} });
    await using api = await createApi({ backend, sharing });
    const tenant = await makeTenant(api);
    const { id } = await publishQuestion(api, tenant);
    const send = () =>
      api.request('POST', '/v1/answers', {
        as: tenant.key.apiKey,
        body: { answers: [anAnswer({ question_id: id, identity: 'ada' })] },
      });
    expect((await send()).status).toBe(202);
    await server.configure('fsync', 'off');
    const refused = await waitFor(async () => {
      const { body } = await send(); // the first one may be refused by the database, before this process knows why
      return body.detail?.includes('fsync is off') && body;
    });
    expect(refused).toMatchObject({ status: 503, code: 'queue-unavailable' });
    expect((await api.request('GET', '/readyz')).body.degraded.join()).toContain('fsync is off');
    expect((await api.metrics.queueDurable.get()).values[0]?.value).toBe(0);
    await using _ = await createWorker(api);
    const environment = {
      DATABASE_URL: server.url,
      SECRET_KEY,
      ...(api.config.REDIS_URL && { REDIS_URL: api.config.REDIS_URL }),
    };
    const { checks } = await diagnose(environment, log);
    expect(checks).toContainEqual(
      expect.objectContaining({ name: 'database durability', ok: false, detail: expect.stringContaining('fsync') }),
    );
    const count = async () => (await server.query('select from answers where tenant_id = $1', [tenant.uuid])).length;
    expect(await count()).toBe(0);
    await server.configure('fsync', undefined);
    await waitFor(async () => (await send()).status === 202);
    await waitFor(async () => (await count()) >= 2);
  });
});
