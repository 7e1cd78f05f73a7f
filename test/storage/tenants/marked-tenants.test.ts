import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Storage } from '../../../src/storage/database/orm.ts';
import type { MarkedTenant } from '../../../src/storage/tenants/marked-tenants.ts';
import { removeMarks, takeMarks } from '../../../src/storage/tenants/marked-tenants.ts';
import { insertTenant } from '../../../src/storage/tenants/tenants.ts';
import { assignment } from '../../../src/worker/assign.ts';
import { createTenantRounds } from '../../../src/worker/tenant-rounds.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { loopDeps } from '../../support/loops.ts';
import { insertMany } from '../../support/rows.ts';
import { waitFor } from '../../support/wait.ts';

let database: TestDatabase;
let worker: Storage;
let app: Storage;
beforeAll(async () => {
  database = await createDatabase();
  [worker, app] = [database.storage('parley_worker'), database.storage('parley_app')];
});
afterAll(() => database[Symbol.asyncDispose]());

const makeTenant = async () => (await insertTenant(app, 'Acme', new Date())).id;

/** A connection in an open transaction, as the database's owner. */
async function openTransaction() {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('begin');
  return {
    mark: (tenantId: string) => client.query("select mark_tenant($1, 'assignment')", [tenantId]),
    query: (sql: string, params: unknown[] = []) => client.query(sql, params),
    async end(how: 'commit' | 'rollback' = 'commit') {
      await client.query(how);
      await client.end();
    },
  };
}

async function mark(tenantId: string): Promise<void> {
  const tx = await openTransaction();
  await tx.mark(tenantId);
  await tx.end();
}

const take = async (tenantId: string): Promise<MarkedTenant | undefined> =>
  (await takeMarks(worker, 'assignment')).find(tenant => tenant.tenantId === tenantId);

/** Takes marks until they are settled: writes of other tests on the same server delay that. */
const takeSettled = (tenantId: string): Promise<MarkedTenant> =>
  waitFor(async () => {
    const taken = await take(tenantId);
    return taken?.isSettled && taken;
  });

const marks = async (tenantId: string): Promise<number> =>
  (await database.query('select from marked_tenants where tenant_id = $1', [tenantId])).length;

test('writers that mark the same tenant at once do not wait for each other, in any order of tenants', async () => {
  const [one, two] = [await makeTenant(), await makeTenant()];
  const [first, second] = [await openTransaction(), await openTransaction()];
  await second.query("set statement_timeout = '2s'");
  await first.mark(one);
  await second.mark(two);
  await second.mark(one);
  await first.mark(two);
  await second.end();
  await first.end();
  expect([await marks(one), await marks(two)]).toEqual([2, 2]);
  expect((await take(one))?.ids).toHaveLength(2);
});

test('a committed mark is used by later writers, and a mark that was taken is not', async () => {
  const tenantId = await makeTenant();
  await mark(tenantId);
  await mark(tenantId);
  expect(await marks(tenantId)).toBe(1);
  await take(tenantId);
  await mark(tenantId);
  expect(await marks(tenantId)).toBe(2);
});

test('marks are settled only after the write that met the mark before it was taken has ended', async () => {
  for (const how of ['commit', 'rollback'] as const) {
    const tenantId = await makeTenant();
    await mark(tenantId);
    const writer = await openTransaction();
    await writer.mark(tenantId);
    expect(await marks(tenantId)).toBe(1); // the writer relies on it
    expect(await take(tenantId)).toMatchObject({ isSettled: false });
    expect(await take(tenantId)).toMatchObject({ isSettled: false });
    const later = await openTransaction();
    await later.mark(tenantId); // a write that starts after the mark was taken has its own
    await writer.end(how);
    await takeSettled(tenantId);
    await later.end();
  }
});

test('a worker that is killed while it takes marks, or before it removes them, loses none', async () => {
  const tenantId = await makeTenant();
  await mark(tenantId);
  await database.query('update marked_tenants set taken = true where tenant_id = $1', [tenantId]);
  const taken = await takeSettled(tenantId);
  expect(await take(tenantId)).toEqual(taken);
  await mark(tenantId);
  await removeMarks(worker, 'assignment', taken);
  expect(await marks(tenantId)).toBe(1);
});

test('marks of a database that was restored on another server are settled', async () => {
  const tenantId = await makeTenant();
  await mark(tenantId);
  await take(tenantId);
  await database.query('update marked_tenants set taken_before = taken_before + 1000000000 where tenant_id = $1', [
    tenantId,
  ]);
  expect(await take(tenantId)).toMatchObject({ isSettled: true });
});

test('the conversation of a write that was open while the loop looked is assigned after its commit', async () => {
  const tenantId = await makeTenant();
  const rounds = createTenantRounds(loopDeps(), assignment({ ...loopDeps(), storage: worker, tenants: app }));
  await rounds.run(); // looks at all tenants once
  const rule = { id: tenantId, name: 'All', when: { tag: 'vip' }, then: {} };
  await database.query("insert into assignment_rules values ($1, 1, $2, '{}')", [tenantId, JSON.stringify([rule])]);
  await mark(tenantId);
  const writer = await openTransaction();
  const query = async (sql: string, params?: unknown[]) => (await writer.query(sql, params)).rows as never;
  await insertMany({ query }, 'conversations', { tenant_id: `'${tenantId}'`, status: "'open'" }, 1);
  await writer.mark(tenantId);
  for (let round = 0; round < 3; round++) await rounds.run();
  const unseen = () =>
    database.query('select from conversations where tenant_id = $1 and rules_checked = 0', [tenantId]);
  await writer.end();
  expect(await unseen()).toHaveLength(1);
  await rounds.run();
  expect(await unseen()).toHaveLength(0);
  await waitFor(async () => {
    await rounds.run();
    return (await marks(tenantId)) === 0;
  });
});
