import pg, { type Client, type QueryResult } from 'pg';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ScopedQuery } from '../../../src/storage/database/scoped-query.ts';
import { transactionSettings } from '../../../src/storage/database/settings.ts';
import { prepared, tenantScope } from '../../../src/storage/database/transaction.ts';
import { createDatabase } from '../../support/database.ts';

const database = await createDatabase();
let client: Client;
const tenantId = v7();

beforeAll(async () => {
  client = new pg.Client({ connectionString: database.url, pipeline: true } as pg.ClientConfig);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database[Symbol.asyncDispose]();
});

const STATE = `select current_user as role, current_setting('parley.tenant', true) as tenant,
  current_setting('statement_timeout') as timeout, current_setting('plan_cache_mode') as plans,
  current_setting('jit') as jit`;

const send = (
  sql: string,
  params: unknown[] = [],
  settings = transactionSettings('parley_app', tenantScope(tenantId), 1234),
) => {
  const query = new ScopedQuery(settings, prepared(sql, params));
  client.query(query as never);
  return query.outcome;
};
const rowsOf = async (outcome: Promise<QueryResult>) => (await outcome).rows;

describe('a statement with its settings', () => {
  test('runs with them and leaves none of them in the session', async () => {
    const before = (await client.query(STATE)).rows;
    for (let time = 0; time < 3; time++) {
      expect(await rowsOf(send(STATE))).toEqual([
        { role: 'parley_app', tenant: tenantId, timeout: '1234ms', plans: 'force_generic_plan', jit: 'off' },
      ]);
      expect((await client.query(STATE)).rows[0]).toEqual({ ...before[0], tenant: before[0].tenant ?? '' });
    }
  });

  test('is not run when they fail, and is parsed again the next time', async () => {
    const sql = `select '${v7()}' as is_new`;
    const bad = {
      ...transactionSettings('parley_app', tenantScope(tenantId), 1),
      name: 'bad_settings',
      text: 'select 1 / $1::int + length($2) + length($3) + length($4)',
      values: ['0', '', '', ''],
    };
    await expect(send(sql, [], bad)).rejects.toMatchObject({ code: '22012' });
    expect(await rowsOf(send(sql))).toHaveLength(1); // its Parse was skipped and is sent again
  });

  test('fails on its own, by its own fault, and can be sent again', async () => {
    const sql = 'select 1 / $1::int as quotient';
    await expect(send(sql, [0])).rejects.toMatchObject({ code: '22012' });
    await expect(send('select nothing from nowhere')).rejects.toMatchObject({ code: '42P01' });
    await expect(send('select nothing from nowhere')).rejects.toMatchObject({ code: '42P01' });
    expect(await rowsOf(send(sql, [1]))).toEqual([{ quotient: 1 }]);
  });

  test('is cancelled at its own timeout', async () => {
    await expect(send('select pg_sleep(10)')).rejects.toMatchObject({ code: '57014' });
    expect(await rowsOf(send('select 1 as one'))).toEqual([{ one: 1 }]);
  });

  test('in one round trip with others each have their own', async () => {
    const tenants = Array.from({ length: 20 }, () => v7());
    const found = await Promise.all(
      tenants.map(id =>
        send(
          "select current_setting('parley.tenant') as tenant",
          [],
          transactionSettings('parley_app', tenantScope(id), 1000),
        ),
      ),
    );
    expect(found.map(({ rows }) => rows[0].tenant)).toEqual(tenants);
  });
});
