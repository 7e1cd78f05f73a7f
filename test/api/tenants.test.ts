import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi, type TestApi, waitFor } from '../support/api.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { makeMember, type TestPerson } from '../support/person.ts';

/** The default. */
const APPEARANCE = {
  ...{ theme: 'auto', accent: null, background: null, text: null },
  ...{ radius: 12, font: 'inherit', placement: 'inline' },
};

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
    demo: false,
    default_locale: 'en',
    locales: ['en'],
    timezone: 'UTC',
    cooldown_days: 7,
    auto_resolve_days: null,
    office_hours: [],
    reply_targets: {},
    custom_fields: [],
    retention: { answers_days: null, conversations_days: null },
    ip_mode: 'none',
    identity_attributes_allowed: [],
    appearance: APPEARANCE,
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
  { appearance: null },
  { appearance: { theme: 'sepia' } },
  { appearance: { accent: 'red' } },
  { appearance: { accent: '#f00' } },
  { appearance: { accent: '#ff000080' } },
  { appearance: { accent: 'url(https://example.com)' } },
  { appearance: { background: '#12345g' } },
  { appearance: { text: 0 } },
  { appearance: { radius: 25 } },
  { appearance: { radius: -1 } },
  { appearance: { radius: 0.5 } },
  { appearance: { font: 'Comic Sans' } },
  { appearance: { placement: 'popover' } },
  { appearance: { shadow: true } },
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
  await waitFor(async () => (await cards()) === 1, 10_000);
});

test('the appearance changes field by field, and colors are in lower case', async () => {
  const appearance = async (change: object) => (await patch({ appearance: change })).body.appearance;
  expect(await appearance({ theme: 'light', accent: '#0F766E' })).toEqual({
    ...APPEARANCE,
    theme: 'light',
    accent: '#0f766e',
  });
  const rest = { background: '#ffffff', text: '#111111', radius: 0, font: 'system', placement: 'modal' };
  const all = { theme: 'light', accent: '#0f766e', ...rest };
  expect(await appearance(rest)).toEqual(all);
  expect((await read()).body.appearance).toEqual(all);
  expect(await appearance(APPEARANCE)).toEqual(APPEARANCE);
});

test('colors that are hard to read are refused with the numbers and the nearest color', async () => {
  const { body } = await patch({ appearance: { accent: '#FFD400' } });
  expect(body).toMatchObject({
    status: 422,
    code: 'validation-failed',
    errors: [
      {
        pointer: '/appearance/accent',
        code: 'low-contrast',
        detail: expect.stringContaining('1.43:1 with the background #ffffff of the light theme'),
      },
    ],
    contrasts: [{ field: 'accent', ratio: 1.43, required: 3, nearest: expect.stringMatching(/^#[0-9a-f]{6}$/) }],
  });
  expect((await read()).body.appearance.accent).toBeNull();
  const { nearest } = body.contrasts[0];
  expect((await patch({ appearance: { accent: nearest } })).body.appearance.accent).toBe(nearest);

  const hidden = await patch({ appearance: { background: nearest } });
  expect(hidden.body.errors).toEqual([
    { pointer: '/appearance/background', code: 'low-contrast', detail: expect.stringContaining('accent color') },
  ]);
  await patch({ appearance: APPEARANCE });
});

test('a new appearance is part of every card list and its entity tag within a second', async () => {
  const own = await makeTenant(api);
  const { headers } = await makeMember(api, own, 'owner');
  await publishQuestion(api, own);
  const as = await own.sign('user|42');
  const cards = (etag = '') => api.request('GET', '/v1/cards', { as, headers: { 'If-None-Match': etag } });
  const first = await cards();
  expect(first.body.appearance).toEqual(APPEARANCE);
  const etag = first.headers.get('ETag') as string;
  expect((await cards(etag)).status).toBe(304);
  const change = { theme: 'dark', placement: 'popover-bottom-right' };
  await api.request('PATCH', '/v1/tenant', { headers, body: { appearance: change } });
  const changed = await waitFor(async () => {
    const reply = await cards(etag);
    return reply.status === 200 && reply;
  }, 1000);
  expect(changed.body).toEqual({ ...first.body, appearance: { ...APPEARANCE, ...change } });
  const other = await api.request('GET', '/v1/cards', { as: await tenant.sign('user|42') });
  expect(other.body.appearance).toEqual(APPEARANCE);
});
