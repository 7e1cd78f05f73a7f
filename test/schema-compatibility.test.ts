import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isCompatible } from '../src/storage/database/migrate.ts';
import { NEEDED_SCHEMA } from '../src/storage/migrations/index.ts';
import { createApi, type TestApi, waitFor } from './support/api.ts';
import { makeTenant } from './support/make.ts';
import { startProcess } from './support/process.ts';

test.each([
  { state: undefined, fits: false, why: 'there is none' },
  { state: { version: NEEDED_SCHEMA, oldest_compatible: NEEDED_SCHEMA }, fits: true, why: 'it is the one needed' },
  {
    state: { version: NEEDED_SCHEMA + 1, oldest_compatible: NEEDED_SCHEMA },
    fits: true,
    why: 'it is newer and says so',
  },
  {
    state: { version: NEEDED_SCHEMA + 1, oldest_compatible: NEEDED_SCHEMA + 1 },
    fits: false,
    why: 'it is newer and left this build behind',
  },
  { state: { version: NEEDED_SCHEMA - 1, oldest_compatible: 0 }, fits: false, why: 'it is older' },
])('a schema is compatible: $fits, because $why', ({ state, fits }) => {
  expect(isCompatible(state)).toBe(fits);
});

describe('a build with a newer schema', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createApi();
  });
  afterAll(() => api[Symbol.asyncDispose]());

  test('is not ready if the schema is incompatible, and is as soon as it is compatible', async () => {
    await api.database.query('insert into schema_state values (9999, 9999)');
    await using process = await startProcess('serve', { DATABASE_URL: api.database.url, SECRET_KEY: api.secretKey });
    await waitFor(() => process.output().includes('waiting for the migrations'));
    const refused = await fetch(`${process.baseUrl}/readyz`);
    expect(refused.status).toBe(503);

    await api.database.query('update schema_state set oldest_compatible = $1 where version = 9999', [NEEDED_SCHEMA]);
    await process.awaitProbe('/readyz', 200);
  });

  test('keeps working while every table gains a column', async () => {
    const tenant = await makeTenant(api);
    const token = await tenant.sign('user|42');
    const asks = async () => {
      const started = await api.request('POST', '/v1/conversations', { as: token, body: { message: 'Hello' } });
      const replies = await Promise.all([
        api.request('GET', `/v1/conversations/${started.body.id}/messages`, { as: tenant.key.apiKey }),
        api.request('GET', '/v1/conversations', { as: token }),
        api.request('GET', '/v1/answers', { as: tenant.key.apiKey }),
        api.request('GET', '/v1/questions', { as: tenant.key.apiKey }),
        api.request('GET', '/v1/cards', { as: token }),
        api.request('POST', '/v1/questions', {
          as: tenant.key.apiKey,
          body: { type: 'nps', title: 'How likely?' },
          headers: { 'Idempotency-Key': randomBytes(8).toString('hex') },
        }),
      ]);
      const other = await makeTenant(api); // a key that the process has not looked up before
      const fresh = await api.request('GET', '/v1/ingestion', { as: other.key.apiKey });
      return [started, ...replies, fresh].map(({ status }) => status);
    };
    const before = [201, 200, 200, 200, 200, 200, 201, 200];
    for (let round = 0; round < 5; round++) expect(await asks()).toEqual(before); // until every connection has prepared the statements

    const tables = await api.database.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public'",
    );
    for (const { name } of tables) await api.database.query(`alter table "${name}" add column added_later text`);
    for (let round = 0; round < 5; round++) expect(await asks()).toEqual(before);
  });
});
