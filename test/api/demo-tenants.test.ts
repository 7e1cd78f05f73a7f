import { afterAll, beforeAll, expect, test } from 'vitest';
import { withClient } from '../../src/platform/postgres-client.ts';
import { createApi, createWorker, type TestApi, waitFor } from '../support/api.ts';
import { numberAll } from '../support/events.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { joinTenant, makeMember, type TestPerson } from '../support/person.ts';

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await createApi();
  tenant = await makeTenant(api);
});
afterAll(() => api[Symbol.asyncDispose]());

const create = ({ headers }: TestPerson, more = {}) =>
  api.request('POST', '/v1/demo-tenants', { headers: { ...headers, ...more } });
const remove = ({ headers }: TestPerson, id: string) => api.request('DELETE', `/v1/demo-tenants/${id}`, { headers });
const log = async ({ headers }: TestPerson, more = {}) =>
  (await api.request('GET', '/v1/audit-log?limit=100', { headers: { ...headers, ...more } })).body.data;

/** The number of rows of every tenant but the demo ones, by table. */
async function realRows(): Promise<Record<string, number>> {
  const tables = await api.database.query<{ name: string }>(
    `select table_name as name from information_schema.columns
     where column_name = 'tenant_id' and table_schema = 'public' order by 1`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await api.database.query<{ count: number }>(
      `select count(*)::int as count from ${name} where tenant_id in (select id from tenants where not is_demo)`,
    );
    counts[name] = row?.count ?? 0;
  }
  return counts;
}

test('demo data is a tenant of its own, whose deletion leaves nothing of it and everything else', async () => {
  await using _ = await createWorker(api);
  const owner = await makeMember(api, tenant, 'owner');
  await numberAll(api.database.storage('parley_worker'));
  const before = await realRows();
  const { status, body: demo } = await create(owner);
  expect([status, demo]).toEqual([
    201,
    { id: expect.stringMatching(/^tenant_/), name: 'Nordlicht Coffee (demo)', demo: true },
  ]);
  const me = await api.request('GET', '/v1/me', { headers: owner.headers });
  expect(me.body.account.memberships).toEqual([
    expect.objectContaining({ tenant: { id: tenant.id, name: 'Acme', demo: false } }),
    { tenant: demo, member_id: expect.any(String), role: 'owner' },
  ]);
  const inDemo = { headers: { ...owner.headers, 'Tenant-Id': demo.id } };
  await waitFor(async () => (await api.request('GET', '/v1/ingestion', inDemo)).body.stored > 600);
  const { body: totals } = await api.request('GET', '/v1/ingestion', inDemo);
  expect(totals).toMatchObject({ accepted: totals.stored, queued: 0, quarantined: 0, rejected: 0 });
  expect((await api.request('GET', '/v1/conversations?limit=100', inDemo)).body.data).toHaveLength(8);
  expect((await log(owner, inDemo.headers))[0]).toMatchObject({
    action: 'tenant.created',
    actor: { name: 'The owner' },
  });
  expect(await realRows()).toEqual({ ...before, audit_log: (before.audit_log ?? 0) + 1 });

  expect((await remove(owner, demo.id)).status).toBe(204);
  expect((await api.request('GET', '/v1/tenant', inDemo)).body.code).toBe('not-a-member');
  expect(await realRows()).toEqual({ ...before, audit_log: (before.audit_log ?? 0) + 2 });
  expect((await log(owner)).slice(0, 2)).toMatchObject([
    { action: 'demo_tenant.deleted', target: { id: demo.id, name: demo.name } },
    { action: 'demo_tenant.created', target: { id: demo.id, name: demo.name } },
  ]);
  expect((await api.request('GET', '/v1/tenant', { headers: owner.headers })).body.name).toBe('Acme');
  expect((await create(owner)).status).toBe(201);
});

test('a person owns one demo tenant at a time, also with two requests at once', async () => {
  const owner = await makeMember(api, tenant, 'admin');
  const replies = await Promise.all([create(owner), create(owner), create(owner)]);
  const created = replies.filter(({ status }) => status === 201);
  expect(created).toHaveLength(1);
  for (const { status } of replies) expect([201, 409, 503]).toContain(status); // 503: it had to wait for too long
  const id = created[0]?.body.id;
  expect((await create(owner)).body).toMatchObject({
    status: 409,
    code: 'limit-reached',
    detail: `You already own a demo tenant, ${id}. Delete it first.`,
  });
});

test('a repeated request with an Idempotency-Key creates one', async () => {
  const owner = await makeMember(api, tenant, 'owner');
  const [first, again] = [
    await create(owner, { 'Idempotency-Key': 'demo' }),
    await create(owner, { 'Idempotency-Key': 'demo' }),
  ];
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(again.body).toEqual(first.body);
});

test('a request whose answers the queue does not take leaves no tenant', async () => {
  const owner = await makeMember(api, tenant, 'owner');
  await withClient(api.database.url, async client => {
    await client.query('begin; lock table bullmq.job in share mode'); // writes wait, reads do not
    const refused = await create(owner);
    expect([refused.status, refused.body.code]).toEqual([503, 'queue-unavailable']);
    await client.query('rollback');
  });
  const me = await api.request('GET', '/v1/me', { headers: owner.headers });
  expect(me.body.account.memberships).toHaveLength(1);
  await waitFor(async () => (await create(owner)).status === 201, 30_000);
});

test('only a demo tenant that the person owns can be deleted, and not from within', async () => {
  const owner = await makeMember(api, tenant, 'owner');
  const other = await makeMember(api, tenant, 'owner');
  const { body: demo } = await create(owner);
  const own = await makeTenant(api, 'Own');
  await joinTenant(api, own, owner, 'owner');
  for (const id of [tenant.id, own.id, 'tenant_01h455vb4pex5vsknk084sn02q', 'nothing'])
    expect([id, (await remove(owner, id)).status]).toEqual([id, 404]);
  expect((await remove(other, demo.id)).status).toBe(404);
  const within = { ...owner, headers: { ...owner.headers, 'Tenant-Id': demo.id } };
  expect((await remove(within, demo.id)).status).toBe(404);
  expect((await remove(owner, demo.id)).status).toBe(204);
});

test('agents and analysts cannot create one', async () => {
  for (const role of ['agent', 'analyst'] as const) {
    const { status, body } = await create(await makeMember(api, tenant, role));
    expect([status, body.code]).toEqual([403, 'insufficient-scope']);
  }
});
