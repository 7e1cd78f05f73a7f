import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi, type TestApi, waitFor } from '../support/api.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { makeMember, type TestPerson } from '../support/person.ts';

let api: TestApi;
let tenant: TestTenant;
let owner: TestPerson;
beforeAll(async () => {
  api = await createApi();
  tenant = await makeTenant(api);
  owner = await makeMember(api, tenant, 'owner');
});
afterAll(() => api[Symbol.asyncDispose]());

const read = () => api.request('GET', '/v1/tenant', { headers: owner.headers });
const patch = (body: object, more = {}) =>
  api.request('PATCH', '/v1/tenant', { headers: { ...owner.headers, ...more }, body });

test('a tenant has default settings that can be changed separately', async () => {
  expect((await read()).body).toEqual({
    id: tenant.id,
    name: 'Acme',
    default_locale: 'en',
    locales: ['en'],
    timezone: 'UTC',
    cooldown_days: 7,
    retention: { answers_days: null, conversations_days: null },
    ip_mode: 'none',
    identity_attributes_allowed: [],
    created_at: expect.any(String),
  });
  const changed = await patch({ timezone: 'Europe/Berlin', default_locale: 'de', locales: ['de', 'pt-BR'] });
  expect(changed.body).toMatchObject({ name: 'Acme', timezone: 'Europe/Berlin', locales: ['de', 'pt-BR'] });
  expect((await read()).body).toEqual(changed.body);
});

test.each([
  { id: 'tenant_01h455vb4pex5vsknk084sn02q' },
  { created_at: '2026-01-01T00:00:00Z' },
  { name: '' },
  { name: 'x'.repeat(121) },
  { name: 'nul\u0000' },
  { default_locale: 'english' },
  { default_locale: 'de-de' },
  { locales: [] },
  { timezone: 'Mars/Olympus' },
  { timezone: '' },
  { cooldown_days: -1 },
  { cooldown_days: 1.5 },
  { ip_mode: 'all' },
  { retention: null },
  { retention: { answers_days: 0 } },
  { retention: { answers_days: 3651 } },
  { retention: { answers_days: 1.5 } },
  { retention: { conversations_days: '30' } },
  { retention: { messages_days: 30 } },
  { identity_attributes_allowed: ['a b'] },
  { identity_attributes_allowed: ['plan', 'plan'] },
  { identity_attributes_allowed: Array.from({ length: 51 }, (_, index) => `a${index}`) },
  { first_card_at: '2026-01-01T00:00:00Z' },
])('%j is rejected without changes', async body => {
  const before = (await read()).body;
  expect(await patch(body)).toMatchObject({ status: 422, body: { code: 'validation-failed' } });
  expect((await read()).body).toEqual(before);
});

test('each retention changes separately, and null means forever', async () => {
  const kept = async (retention: object) => (await patch({ retention })).body.retention;
  expect(await kept({ answers_days: 30 })).toEqual({ answers_days: 30, conversations_days: null });
  expect(await kept({ conversations_days: 3650 })).toEqual({ answers_days: 30, conversations_days: 3650 });
  expect(await kept({})).toEqual({ answers_days: 30, conversations_days: 3650 });
  expect(await kept({ answers_days: null })).toEqual({ answers_days: null, conversations_days: 3650 });
  expect((await read()).body.retention).toEqual({ answers_days: null, conversations_days: 3650 });
});

test('a change based on an older version is rejected', async () => {
  const etag = (await read()).headers.get('ETag') as string;
  expect((await patch({ name: 'First' }, { 'If-Match': etag })).status).toBe(200);
  expect((await patch({ name: 'Second' }, { 'If-Match': etag })).body.code).toBe('precondition-failed');
  expect((await read()).body.name).toBe('First');
});

test('a new cooldown applies to the cards of every process within a second', async () => {
  const own = await makeTenant(api);
  const { headers } = await makeMember(api, own, 'owner');
  await publishQuestion(api, own);
  await api.database.query(
    `insert into card_records (tenant_id, identity, identity_verified, question_id, shown_at)
     values ($1, 'user|42', true, gen_random_uuid(), now() - interval '1 day')`,
    [own.uuid],
  );
  const as = await own.sign('user|42');
  const cards = async () => (await api.request('GET', '/v1/cards', { as })).body.data.length;
  expect(await cards()).toBe(0);
  await api.request('PATCH', '/v1/tenant', { headers, body: { cooldown_days: 0 } });
  await waitFor(async () => (await cards()) === 1, 1000);
});
