import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { createApi } from '../support/api.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';

const api = await createApi();
afterAll(() => api[Symbol.asyncDispose]());

const save = (tenant: TestTenant, identities: unknown[]) =>
  api.request('POST', '/v1/identities', { as: tenant.key.apiKey, body: { identities } });
const read = (tenant: TestTenant, identity: string, query = '') =>
  api.request('GET', `/v1/identities/${encodeURIComponent(identity)}${query}`, { as: tenant.key.apiKey });
const statuses = (reply: { body: { results: { status: string }[] } }) => reply.body.results.map(({ status }) => status);
const versionsOf = (tenant: TestTenant) =>
  api.database.query<{ identity: string; version: string }>(
    'select identity, xmin::text as version from identities where tenant_id = $1 order by identity, identity_verified',
    [tenant.uuid],
  );
const entriesOf = async (tenant: TestTenant) =>
  (await api.database.query<{ fields: string[] }>('select fields from audit_log where tenant_id = $1', [tenant.uuid]))
    .length;

describe('a batch of profiles', () => {
  test('creates and updates users, each with its result in order', async () => {
    const tenant = await makeTenant(api);
    const first = await save(tenant, [
      { identity: 'a', attributes: { plan: 'pro', seats: 5 }, locale: 'de' },
      { identity: 'b', verified: false, platform: 'web' },
    ]);
    expect(first).toMatchObject({
      status: 200,
      body: {
        results: [
          { identity: 'a', verified: true, status: 'created' },
          { identity: 'b', verified: false, status: 'created' },
        ],
      },
    });
    expect(statuses(await save(tenant, [{ identity: 'a', attributes: { seats: null, beta: true } }]))).toEqual([
      'updated',
    ]);
    expect((await read(tenant, 'a')).body).toMatchObject({ attributes: { plan: 'pro', beta: true }, locale: 'de' });
    expect((await read(tenant, 'b', '?verified=false')).body.platform).toBe('web');
    expect((await read(tenant, 'b')).status).toBe(404);
  });

  test('writes neither a row nor an audit entry for what stays the same', async () => {
    const tenant = await makeTenant(api);
    const profile = { attributes: { plan: 'pro', seats: 5, beta: true }, locale: 'de' };
    await save(tenant, [
      { identity: 'a', ...profile },
      { identity: 'b', locale: 'en' },
    ]);
    const [versions, entries] = [await versionsOf(tenant), await entriesOf(tenant)];
    const { attributes } = profile;
    const again = Object.fromEntries(Object.entries(attributes).reverse());
    expect(
      statuses(await save(tenant, [{ identity: 'a', attributes: again, locale: 'de' }, { identity: 'b' }])),
    ).toEqual(['unchanged', 'unchanged']);
    const one = { as: tenant.key.apiKey, body: profile };
    expect((await api.request('PUT', '/v1/identities/a', one)).status).toBe(200);
    expect((await api.request('PATCH', '/v1/identities/a', one)).status).toBe(200);
    expect(await versionsOf(tenant)).toEqual(versions);
    expect(await entriesOf(tenant)).toBe(entries);
    await save(tenant, [
      { identity: 'a', locale: 'de' },
      { identity: 'b', locale: 'fr' },
    ]);
    const [a, b] = await versionsOf(tenant);
    expect(a).toEqual(versions[0]);
    expect(b).not.toEqual(versions[1]);
    expect(await entriesOf(tenant)).toBe(entries + 1);
  });

  test('rejects invalid items and saves the others', async () => {
    const tenant = await makeTenant(api);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`a${index}`, index]));
    const reply = await save(tenant, [
      { identity: 'full', attributes: many },
      { identity: 'full', attributes: { more: 1 } },
      { identity: 'x', attributes: { 'no space': 1 } },
      { identity: 'x', surname: 'y' },
      { identity: 'x', attributes: JSON.parse('{"plan":"pro","__proto__":1}') },
      JSON.parse('{"identity":"x","__proto__":{"verified":false}}'),
      { identity: 42 },
      'x',
      { identity: 'y', verified: 'yes' },
      { identity: 'z', locale: '' },
      { identity: 'full', attributes: { a0: 'changed' } },
    ]);
    expect(reply.status).toBe(200);
    const shown = reply.body.results.map((result: Record<string, unknown>) => [
      ...[result.identity, result.verified, result.status, result.code, result.pointer],
    ]);
    expect(shown).toEqual([
      ['full', true, 'created', undefined, undefined],
      ['full', true, 'rejected', 'too-many', '/attributes'],
      ['x', true, 'rejected', 'invalid-format', '/attributes/no space'],
      ['x', true, 'rejected', 'unknown-field', '/surname'],
      ['x', true, 'rejected', 'unknown-field', '/attributes/__proto__'],
      ['x', true, 'rejected', 'unknown-field', '/__proto__'],
      [null, true, 'rejected', 'wrong-type', '/identity'],
      [null, true, 'rejected', 'wrong-type', ''],
      ['y', null, 'rejected', 'wrong-type', '/verified'],
      ['z', true, 'rejected', 'too-short', '/locale'],
      ['full', true, 'updated', undefined, undefined],
    ]);
    expect((await read(tenant, 'full')).body.attributes).toMatchObject({ a0: 'changed', a49: 49 });
    expect((await read(tenant, 'x')).status).toBe(404);
  });

  test.each([[[]], [Array.from({ length: 101 }, (_, index) => ({ identity: `user|${index}` }))]])(
    'has 1 to 100 items',
    async identities => {
      const tenant = await makeTenant(api);
      expect((await save(tenant, identities)).status).toBe(422);
      expect(await versionsOf(tenant)).toEqual([]);
    },
  );

  test('never waits for another one in a circle, and loses no change', async () => {
    const tenant = await makeTenant(api);
    const names = Array.from({ length: 40 }, (_, index) => `user|${index}`);
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, writer) => {
        const order = writer % 2 === 0 ? names : names.toReversed();
        return save(
          tenant,
          order.map(identity => ({ identity, attributes: { [`writer${writer}`]: writer } })),
        );
      }),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    for (const name of [names[0], names[39]])
      expect(Object.keys((await read(tenant, name as string)).body.attributes)).toHaveLength(8);
  });

  test('has the same effect as single updates', async () => {
    const item = fc.record(
      {
        identity: fc.constantFrom('a', 'b'),
        verified: fc.boolean(),
        attributes: fc.dictionary(fc.constantFrom('x', 'y'), fc.option(fc.constantFrom('1', 1, true, 0)), {
          noNullPrototype: true,
        }),
        locale: fc.option(fc.constantFrom('de', 'en')),
      },
      { requiredKeys: ['identity'] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 6 }), async items => {
        const [batched, single] = [await makeTenant(api), await makeTenant(api)];
        await save(batched, items);
        for (const one of items) await save(single, [one]);
        const contentOf = (tenant: TestTenant) =>
          api.database.query(
            'select identity, identity_verified, attributes, locale from identities where tenant_id = $1 order by 1, 2',
            [tenant.uuid],
          );
        expect(await contentOf(batched)).toEqual(await contentOf(single));
      }),
      { numRuns: 15 },
    );
  });

  test('is separate for each tenant', async () => {
    const [one, other] = [await makeTenant(api), await makeTenant(api)];
    await save(one, [{ identity: 'a', locale: 'de' }]);
    expect(statuses(await save(other, [{ identity: 'a', locale: 'de' }]))).toEqual(['created']);
  });
});

describe('the attributes in use', () => {
  const list = async (tenant: TestTenant) =>
    (await api.request('GET', '/v1/identity-attributes', { as: tenant.key.apiKey })).body.data;

  test('have their types and most frequent values', async () => {
    const [tenant, other] = [await makeTenant(api), await makeTenant(api)];
    expect(await list(tenant)).toEqual([]);
    await save(other, [{ identity: 'a', attributes: { secret: 'x' } }]);
    await save(tenant, [
      ...Array.from({ length: 3 }, (_, index) => ({
        identity: `pro${index}`,
        attributes: { plan: 'pro', seats: index },
      })),
      { identity: 'free', attributes: { plan: 'free', seats: '12', beta: true } },
      ...Array.from({ length: 7 }, (_, index) => ({
        identity: `d${index}`,
        attributes: { since: `2026-11-0${index}` },
      })),
      { identity: 'time', attributes: { since: '2026-11-21T07:00:00.000Z', note: '2026-11-21 or so' } },
    ]);
    const attributes = await list(tenant);
    expect(attributes).toEqual([
      { name: 'beta', types: ['boolean'], values: [true] },
      { name: 'note', types: ['string'], values: ['2026-11-21 or so'] },
      { name: 'plan', types: ['string'], values: ['pro', 'free'] },
      { name: 'seats', types: ['number', 'string'], values: expect.arrayContaining([0, 1, 2, '12']) },
      { name: 'since', types: ['date'], values: expect.any(Array) },
    ]);
    expect(attributes[4].values).toHaveLength(5);
  });
});
