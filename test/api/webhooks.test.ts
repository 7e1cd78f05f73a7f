import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { webhookUuid } from '../support/webhooks.ts';

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await createApi();
  tenant = await makeTenant(api);
});
afterAll(() => api[Symbol.asyncDispose]());

const url = 'https://93.184.215.14/hook';
const fields = { url, event_types: ['answer.stored'] };
const send = (method: string, path: string, body?: unknown, as = tenant.key.apiKey, headers = {}) =>
  api.request(method, path, { as, headers, ...(body === undefined ? {} : { body }) });
const create = (body: unknown = fields, as?: string) => send('POST', '/v1/webhooks', body, as);

describe('a webhook', () => {
  test('is created with defaults and a secret, which no other reply shows', async () => {
    const { status, headers, body } = await create();
    const { id, secret, created_at, ...rest } = body;
    expect([status, headers.get('Location')]).toEqual([201, `/v1/webhooks/${id}`]);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(rest).toEqual({
      ...{ ...fields, description: '', payload: 'full', ordered: false, status: 'enabled', disabled_reason: null },
      ...{ lag: { events: 0, seconds: 0 }, previous_secret_until: null, updated_at: created_at },
    });
    const read = await send('GET', `/v1/webhooks/${id}`);
    expect(read.body).toEqual({ id, created_at, ...rest });
    expect(read.headers.get('ETag')).toBe(headers.get('ETag'));
    const list = await send('GET', '/v1/webhooks');
    expect(JSON.stringify([list.body, read.body])).not.toContain('whsec_');
  });

  test('is changed under its ETag, although its lag has changed, and is disabled and deleted', async () => {
    const made = await create();
    const path = `/v1/webhooks/${made.body.id}`;
    const ETag = made.headers.get('ETag') as string;
    await send('POST', `${path}/test`);
    const patch = (body: unknown, headers = {}) => send('PATCH', path, body, undefined, headers);
    expect((await patch({ description: 'CRM' }, { 'If-Match': ETag })).body.description).toBe('CRM');
    expect((await patch({ description: 'Again' }, { 'If-Match': ETag })).status).toBe(412);
    expect((await patch({ status: 'disabled' })).body).toMatchObject({ status: 'disabled', disabled_reason: 'manual' });
    expect((await patch({ status: 'enabled', resume: 'now' })).body).toMatchObject({ lag: { events: 0 } });
    expect((await send('DELETE', path)).status).toBe(204);
    for (const [method, more] of [
      ['GET', ''],
      ['GET', '/deliveries'],
      ['POST', '/test'],
    ] as const)
      expect((await send(method, `${path}${more}`)).status).toBe(404);
  });

  test.each<[string, Record<string, unknown>, string, string]>([
    ['an unknown type', { event_types: ['answer.stored', 'answer.lost'] }, '/event_types/1', 'unknown-value'],
    ['no type', { event_types: [] }, '/event_types', 'too-few'],
    ['an unknown field', { secret: 'mine' }, '/secret', 'unknown-field'],
    ['a loopback address', { url: 'https://[::1]/' }, '/url', 'url-not-allowed'],
    ['a port of mail servers', { url: 'https://93.184.215.14:25/' }, '/url', 'url-not-allowed'],
    ['credentials', { url: 'https://user:word@93.184.215.14/' }, '/url', 'url-not-allowed'],
  ])('with %s is refused, when created and when changed', async (_, wrong, pointer, code) => {
    const { body } = await create();
    for (const refused of [
      await create({ ...fields, ...wrong }),
      await send('PATCH', `/v1/webhooks/${body.id}`, wrong),
    ])
      expect([refused.status, refused.body.errors?.[0]]).toMatchObject([422, { pointer, code }]);
    expect((await send('GET', `/v1/webhooks/${body.id}`)).body.updated_at).toBe(body.updated_at);
    await send('DELETE', `/v1/webhooks/${body.id}`);
  });

  test('sends objects only if its creator may read them', async () => {
    const { apiKey } = await tenant.addKey({ scopes: ['webhooks:manage'] });
    expect((await create(fields, apiKey)).body.code).toBe('insufficient-scope');
    const thin = await create({ ...fields, payload: 'thin' }, apiKey);
    expect(thin.status).toBe(201);
    const refused = await send('PATCH', `/v1/webhooks/${thin.body.id}`, { payload: 'full' }, apiKey);
    expect([refused.status, refused.body.code]).toEqual([403, 'insufficient-scope']);
    const full = await create();
    const patch = (body: unknown) => send('PATCH', `/v1/webhooks/${full.body.id}`, body, apiKey);
    expect((await patch({ status: 'disabled', url: `${url}/other` })).status).toBe(403);
    expect((await patch({ status: 'disabled' })).body.status).toBe('disabled');
    expect((await patch({ status: 'enabled' })).status).toBe(403);
    const { apiKey: reader } = await tenant.addKey({ scopes: ['webhooks:manage', 'answers:read'] });
    expect((await create(fields, reader)).status).toBe(201);
    const { apiKey: without } = await tenant.addKey({ scopes: ['answers:read'] });
    expect((await create(fields, without)).status).toBe(403);
  });

  test.each([
    ['ends before it begins', { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, '/to'],
    ['begins in the future, and ends now', { from: '9999-01-01T00:00:00Z' }, '/from'],
  ])('is not replayed over a range that %s', async (_, range, pointer) => {
    const { body } = await create();
    const refused = await send('POST', `/v1/webhooks/${body.id}/replay`, range);
    expect([refused.status, refused.body.errors[0]]).toMatchObject([422, { pointer, code: 'out-of-range' }]);
    await send('DELETE', `/v1/webhooks/${body.id}`);
  });

  test('with another URL tries its waiting events again, of a very large backlog the soonest', async () => {
    const { body } = await create();
    const id = webhookUuid(body.id);
    await api.database.query(
      `insert into deliveries (tenant_id, id, webhook_id, event_id, type, object_id, event_at, attempt, at, status)
       select $1, gen_random_uuid(), $2, gen_random_uuid(), 'answer.stored', gen_random_uuid(), now(), 6,
         now() + n * interval '1 minute', 'waiting' from generate_series(1, 10001) as n`,
      [tenant.uuid, id],
    );
    expect((await send('PATCH', `/v1/webhooks/${body.id}`, { url: `${url}/new` })).status).toBe(200);
    const later = await api.database.query(
      `select round(extract(epoch from at - now()) / 60)::int as minutes from deliveries where webhook_id = $1 and at > now()`,
      [id],
    );
    expect(later).toEqual([{ minutes: 10_001 }]);
    await send('DELETE', `/v1/webhooks/${body.id}`);
  });

  test('gets a new secret without a body, like an API key', async () => {
    const { body } = await create();
    const { status, body: rotated } = await send('POST', `/v1/webhooks/${body.id}/rotate-secret`);
    expect([status, rotated.secret]).toEqual([200, expect.stringMatching(/^whsec_/)]);
    expect(rotated.secret).not.toBe(body.secret);
    const hours = (Date.parse(rotated.previous_secret_until) - Date.parse(rotated.updated_at)) / 3_600_000;
    expect(hours).toBe(24);
  });
});
