import { afterAll, expect, test } from 'vitest';
import { PROFILE_CHANGES_KEPT, PROFILE_CHANGES_KEPT_DAYS } from '../../src/domain/people/profile-changes.ts';
import { OLD_PROFILE_CHANGES } from '../../src/storage/tenants/retention.ts';
import { createApi } from '../support/api.ts';
import { makeTenant } from '../support/make.ts';
import { makeMember } from '../support/person.ts';

const api = await createApi();
afterAll(() => api[Symbol.asyncDispose]());

const USER = '/v1/identities/user%7C42';

async function make() {
  const tenant = await makeTenant(api);
  const ask = (method: string, path: string, body?: unknown) =>
    api.request(method, path, { as: tenant.key.apiKey, body });
  const changesOf = async (path = USER, query = '') =>
    (await ask('GET', `${path}/changes?limit=100${query}`)).body.data;
  /** Each change as its fields with the values before and after. */
  const fieldsOf = async (path = USER) =>
    (await changesOf(path)).map(({ changes }: { changes: { field: string; name: string | null }[] }) =>
      changes.map(({ field, name, ...values }) => [name ?? field, ...Object.values(values)]),
    );
  const stored = async () =>
    JSON.stringify(await api.database.query('select changes from profile_changes where tenant_id = $1', [tenant.uuid]));
  return { tenant, ask, changesOf, fieldsOf, stored };
}

test('the changes of a profile have the values before and after, the time and the author, latest first', async () => {
  const { tenant, ask, changesOf } = await make();
  const { headers, memberId } = await makeMember(api, tenant, 'owner');
  await ask('PUT', USER, { attributes: { plan: 'free', seats: 5 }, locale: 'de' });
  await ask('PUT', USER, { attributes: { plan: 'pro', seats: 5, beta: true }, locale: 'de' });
  await api.request('PATCH', USER, { headers, body: { locale: 'en', app_version: '4.2' } });
  const changed = (field: string, name: string | null, from: unknown, to: unknown) => ({ field, name, from, to });
  expect(await changesOf()).toEqual([
    {
      number: 2,
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      by: { type: 'member', id: memberId },
      changes: [changed('app_version', null, null, '4.2'), changed('locale', null, 'de', 'en')],
    },
    {
      number: 1,
      at: expect.any(String),
      by: { type: 'api_key', id: tenant.key.id },
      changes: [changed('attribute', 'beta', null, true), changed('attribute', 'plan', 'free', 'pro')],
    },
  ]);
});

test("a change by the user's app has the user as its author, without a name", async () => {
  const { tenant, ask, changesOf } = await make();
  const { headers } = await makeMember(api, tenant, 'owner');
  await api.request('PATCH', '/v1/tenant', { headers, body: { identity_attributes_allowed: ['plan'] } });
  await ask('PUT', USER, { attributes: { plan: 'free' } });
  const as = await tenant.sign('user|42');
  await api.request('PATCH', '/v1/me/attributes', { as, body: { attributes: { plan: 'pro' } } });
  expect(await changesOf()).toMatchObject([{ by: { type: 'user', id: null }, changes: [{ from: 'free', to: 'pro' }] }]);
});

test('an attribute may have the name of a method', async () => {
  const { ask, fieldsOf } = await make();
  await ask('PUT', USER, { attributes: {} });
  await ask('PUT', USER, { attributes: { constructor: 'a' } });
  expect(await fieldsOf()).toEqual([[['constructor', null, 'a']]]);
});

test('a profile that is created or stays the same has no change', async () => {
  const { ask, changesOf } = await make();
  const profile = { attributes: { plan: 'free' } };
  expect((await ask('PUT', USER, profile)).status).toBe(201);
  await ask('PUT', USER, profile);
  await ask('PATCH', USER, profile);
  await ask('POST', '/v1/identities', { identities: [{ identity: 'user|42', ...profile }] });
  expect(await changesOf()).toEqual([]);
  expect(await changesOf('/v1/identities/unknown')).toEqual([]);
});

test('a batch is one change of each user, from the stored profile to the last item', async () => {
  const { ask, fieldsOf } = await make();
  await ask('PUT', USER, { attributes: { plan: 'free' } });
  await ask('PUT', '/v1/identities/same', { attributes: { plan: 'free' } });
  const item = (identity: string, plan: string) => ({ identity, attributes: { plan } });
  const identities = [
    item('user|42', 'team'),
    item('same', 'pro'),
    item('new', 'free'),
    item('user|42', 'pro'),
    item('same', 'free'),
    item('new', 'pro'),
  ];
  await ask('POST', '/v1/identities', { identities });
  expect(await fieldsOf()).toEqual([[['plan', 'free', 'pro']]]);
  expect(await fieldsOf('/v1/identities/same')).toEqual([]);
  expect(await fieldsOf('/v1/identities/new')).toEqual([]);
});

test('the last changes of each user are kept', async () => {
  const { ask, changesOf } = await make();
  const save = (seats: number) =>
    ask('POST', '/v1/identities', {
      identities: ['user|42', 'other'].map(identity => ({ identity, attributes: { seats } })),
    });
  for (let seats = 0; seats <= PROFILE_CHANGES_KEPT + 3; seats++) await save(seats);
  for (const path of [USER, '/v1/identities/other']) {
    const kept = await changesOf(path);
    expect(kept.map(({ changes: [{ to }] }: { changes: [{ to: number }] }) => to)).toEqual(
      Array.from({ length: PROFILE_CHANGES_KEPT }, (_, index) => PROFILE_CHANGES_KEPT + 3 - index),
    );
  }
});

test('a removed field takes its values from all changes, and other fields and users keep theirs', async () => {
  const { ask, fieldsOf, stored } = await make();
  const other = '/v1/identities/other';
  for (const path of [USER, other]) {
    await ask('PUT', path, { attributes: { email: 'secret-1', plan: 'free' }, platform: 'secret-2' });
    await ask('PUT', path, { attributes: { email: 'secret-3', plan: 'pro' }, platform: 'secret-4' });
  }
  await ask('PATCH', USER, { attributes: { email: null } });
  expect(await fieldsOf()).toEqual([
    [['email', null, null]],
    [
      ['email', null, null],
      ['plan', 'free', 'pro'],
      ['platform', 'secret-2', 'secret-4'],
    ],
  ]);
  expect(await fieldsOf(other)).toEqual([
    [
      ['email', 'secret-1', 'secret-3'],
      ['plan', 'free', 'pro'],
      ['platform', 'secret-2', 'secret-4'],
    ],
  ]);
  await ask('POST', '/v1/identities', {
    identities: ['user|42', 'other'].map(identity => ({ identity, attributes: { email: null }, platform: null })),
  });
  expect(await stored()).not.toContain('secret');
  expect((await fieldsOf(other))[1]).toContainEqual(['plan', 'free', 'pro']);
});

test('a deleted profile takes its changes along, and a new one of its name has none', async () => {
  const { tenant, ask, changesOf, stored } = await make();
  await ask('PUT', USER, { attributes: { plan: 'free' } });
  await ask('PUT', USER, { attributes: { plan: 'pro' } });
  await ask('PUT', '/v1/identities/other', { locale: 'de' });
  await ask('PUT', '/v1/identities/other', { locale: 'en' });
  await api.database.query("delete from identities where tenant_id = $1 and identity = 'user|42'", [tenant.uuid]);
  expect(await stored()).toBe('[{"changes":{"locale":["de","en"]}}]');
  await ask('PUT', USER, { attributes: { plan: 'free' } });
  expect(await changesOf()).toEqual([]);
});

test('a profile of a version without ids has its next change', async () => {
  const { tenant, ask, fieldsOf } = await make();
  await ask('PUT', USER, { locale: 'de' });
  await api.database.query('update identities set id = null where tenant_id = $1', [tenant.uuid]);
  await ask('PUT', USER, { locale: null });
  await ask('PUT', USER, { locale: 'en' });
  expect(await fieldsOf()).toEqual([[['locale', null, 'en']], [['locale', null, null]]]);
});

test('old changes are deleted', async () => {
  const { tenant, ask, changesOf } = await make();
  for (const locale of ['de', 'en', 'fr']) await ask('PUT', USER, { locale });
  await api.database.query(
    `update profile_changes set at = at - make_interval(days => $2) - interval '1 minute'
     where tenant_id = $1 and number = 1`,
    [tenant.uuid, PROFILE_CHANGES_KEPT_DAYS],
  );
  const worker = api.database.storage('parley_worker');
  expect(await OLD_PROFILE_CHANGES.forget(worker, new Date(Date.now() - 120_000))).toBe(0);
  expect(await OLD_PROFILE_CHANGES.forget(worker, new Date())).toBe(1);
  expect(await changesOf()).toMatchObject([{ number: 2 }]);
});

test('changes belong to one identity of one tenant, and reading them needs its scope', async () => {
  const [one, other] = [await make(), await make()];
  await one.ask('PUT', `${USER}?verified=false`, { locale: 'de' });
  await one.ask('PUT', `${USER}?verified=false`, { locale: 'en' });
  expect(await one.changesOf(USER, '&verified=false')).toHaveLength(1);
  expect(await one.changesOf()).toEqual([]);
  expect(await other.changesOf(USER, '&verified=false')).toEqual([]);
  for (const as of [
    (await one.tenant.addKey({ scopes: ['identities:write'] })).apiKey,
    await one.tenant.sign('user|42'),
  ])
    expect((await api.request('GET', `${USER}/changes`, { as })).status).toBe(403);
});

test('events of changed profiles have none of their values', async () => {
  const { tenant, ask } = await make();
  await ask('PUT', USER, { attributes: { plan: 'secret-1' } });
  await ask('PUT', USER, { attributes: { plan: 'secret-2' } });
  const events = await api.database.query(
    "select events::text as row from events where tenant_id = $1 and object_type = 'identity'",
    [tenant.uuid],
  );
  expect(events).toHaveLength(2);
  expect(JSON.stringify(events)).not.toMatch(/secret|user\|42/);
});
