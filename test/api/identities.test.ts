import { Client } from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { createApi, createWorker, type TestReply, waitFor } from '../support/api.ts';
import { anAnswer, answerTo, claimToken, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { makeMember } from '../support/person.ts';

const api = await createApi();
const worker = await createWorker(api);
afterAll(async () => {
  await worker.close();
  await api[Symbol.asyncDispose]();
});

const pathTo = (identity: string, query = '') => `/v1/identities/${encodeURIComponent(identity)}${query}`;

const as =
  (tenant: TestTenant) =>
  (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    api.request(method, path, { as: tenant.key.apiKey, body, headers });

async function make() {
  const tenant = await makeTenant(api);
  return { tenant, ask: as(tenant) };
}

const expectProblem = (reply: TestReply, status: number, code: string) =>
  expect({ status: reply.status, code: reply.body.code }).toEqual({ status, code });

/** Sends answers and waits until they can be read with the tenant's key. */
async function store(tenant: TestTenant, credential: string, ...answers: { id: string }[]) {
  await api.request('POST', '/v1/answers', { as: credential, body: { answers } });
  const read = (id: string) => api.request('GET', `/v1/answers/${id}`, { as: tenant.key.apiKey });
  for (const { id } of answers) await waitFor(async () => (await read(id)).status === 200);
}

const unseen = {
  attributes: {},
  ...{ locale: null, platform: null, app_version: null, first_seen_at: null, last_seen_at: null },
  ...{ answer_count: 0, conversation_count: 0, status: 'active' },
};

describe('an identity', () => {
  test('has its answers counted up to 1,000, with the first and last of all', async () => {
    const { tenant, ask } = await make();
    const { id } = await publishQuestion(api, tenant);
    await store(tenant, tenant.key.apiKey, anAnswer({ question_id: id, identity: 'user|42' }));
    await api.database.query(
      `insert into answers select (jsonb_populate_record(answers, jsonb_build_object('id', gen_random_uuid(),
         'received_at', received_at + number * interval '1 millisecond', 'stored_at', stored_at + number * interval '1 millisecond'))).*
       from answers, generate_series(1, 5000) as number where tenant_id = $1`,
      [tenant.uuid],
    );
    const [known] = await api.database.query<{ first: Date; last: Date }>(
      'select min(received_at) as first, max(stored_at) as last from answers where tenant_id = $1',
      [tenant.uuid],
    );
    const expected = {
      answer_count: 1000,
      first_seen_at: known?.first.toISOString(),
      last_seen_at: known?.last.toISOString(),
    };
    expect((await ask('PUT', pathTo('user|42'), { attributes: { plan: 'pro' } })).body).toMatchObject(expected);
    expect((await ask('GET', pathTo('user|42'))).body).toMatchObject(expected);
  });

  test('exists by its answers and conversations, with the device of its last answer', async () => {
    const { tenant, ask } = await make();
    expectProblem(await ask('GET', pathTo('user|42')), 404, 'resource-not-found');
    const { id } = await publishQuestion(api, tenant);
    const answer = (metadata: object) => anAnswer({ question_id: id, identity: 'user|42', metadata });
    await store(tenant, tenant.key.apiKey, answer({ platform: 'ios', app_version: '1.0.0', locale: 'de' }));
    const first = (await ask('GET', pathTo('user|42'))).body;
    expect(first).toEqual({
      ...unseen,
      ...{ identity: 'user|42', verified: true, platform: 'ios', app_version: '1.0.0', locale: 'de', answer_count: 1 },
      first_seen_at: expect.any(String),
      last_seen_at: expect.any(String),
    });
    await store(tenant, tenant.key.apiKey, answer({ platform: 'web' }));
    const token = await tenant.sign('user|42');
    const started = await api.request('POST', '/v1/conversations', { as: token, body: { message: 'Hello' } });
    const now = (await ask('GET', pathTo('user|42'))).body;
    expect(now).toMatchObject({ platform: 'web', app_version: null, answer_count: 2, conversation_count: 1 });
    expect([now.first_seen_at, now.last_seen_at]).toEqual([first.first_seen_at, started.body.created_at]);
    await api.request('POST', `/v1/conversations/${started.body.id}/messages`, {
      as: tenant.key.apiKey,
      body: { body: 'Yes?' },
    });
    expect((await ask('GET', pathTo('user|42'))).body.last_seen_at).toBe(started.body.created_at);
  });

  test('that is unverified is separate from the verified one of its name', async () => {
    const { tenant, ask } = await make();
    await publishQuestion(api, tenant, { allow_public: true });
    const token = await claimToken(api, tenant, 'user|42');
    const card = await waitFor(async () => (await api.request('GET', '/v1/cards', { as: token })).body.data[0]);
    await store(tenant, token, answerTo(card));
    expectProblem(await ask('GET', pathTo('user|42')), 404, 'resource-not-found');
    expect((await ask('GET', pathTo('user|42', '?verified=false'))).body).toMatchObject({
      ...{ identity: 'user|42', verified: false, answer_count: 1 },
    });
    await ask('PUT', pathTo('user|42'), { attributes: { plan: 'pro' } });
    expect((await ask('GET', pathTo('user|42'))).body).toMatchObject({ answer_count: 0, attributes: { plan: 'pro' } });
    expect((await ask('GET', pathTo('user|42', '?verified=false'))).body.attributes).toEqual({});
  });

  test('accepts profile updates, complete or partial', async () => {
    const { ask } = await make();
    const attributes = { plan: 'pro', seats: 5, beta: true, since: '2026-11-21' };
    const reply = await ask('PUT', pathTo('a/b c%'), {
      attributes,
      locale: 'de-DE',
      platform: 'ios',
      app_version: '4.2',
    });
    const expected = { ...unseen, identity: 'a/b c%', verified: true, attributes };
    expect([reply.status, reply.body]).toEqual([
      201,
      { ...expected, locale: 'de-DE', platform: 'ios', app_version: '4.2' },
    ]);
    const changed = await ask('PATCH', pathTo('a/b c%'), { attributes: { beta: null, seats: 6 }, platform: null });
    const { beta: _, ...rest } = attributes;
    expect(changed.body).toEqual({ ...reply.body, attributes: { ...rest, seats: 6 }, platform: null });
    expect((await ask('GET', pathTo('a/b c%'))).body).toEqual(changed.body);
    expect((await ask('PUT', pathTo('a/b c%'), {})).body).toEqual({ ...unseen, identity: 'a/b c%', verified: true });
    expectProblem(await ask('PATCH', pathTo('nobody'), { locale: 'de' }), 404, 'resource-not-found');
  });

  test('is updated only if If-Match has its version', async () => {
    const { ask } = await make();
    for (const tag of ['"x"', '*'])
      expectProblem(await ask('PUT', pathTo('new'), {}, { 'If-Match': tag }), 412, 'precondition-failed');
    expectProblem(await ask('GET', pathTo('new')), 404, 'resource-not-found');
    await ask('PUT', pathTo('new'), { locale: 'de' });
    const etag = (await ask('GET', pathTo('new'))).headers.get('etag') as string;
    expect((await ask('GET', pathTo('new'), undefined, { 'If-None-Match': etag })).status).toBe(304);
    expect((await ask('PATCH', pathTo('new'), { locale: 'en' }, { 'If-Match': etag })).status).toBe(200);
    expectProblem(
      await ask('PATCH', pathTo('new'), { locale: 'fr' }, { 'If-Match': etag }),
      412,
      'precondition-failed',
    );
    expectProblem(await ask('PUT', pathTo('new'), {}, { 'If-Match': etag }), 412, 'precondition-failed');
    expect((await ask('GET', pathTo('new'))).body.locale).toBe('en');
  });

  test('with concurrent updates keeps the changes of all', async () => {
    const { ask } = await make();
    await ask('PUT', pathTo('busy'), {});
    const names = Array.from({ length: 20 }, (_, index) => `a${index}`);
    await Promise.all(names.map(name => ask('PATCH', pathTo('busy'), { attributes: { [name]: name } })));
    expect(Object.keys((await ask('GET', pathTo('busy'))).body.attributes).sort()).toEqual(names.sort());
  });

  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, index]));

  test.each([
    [{ attributes: { 'no space': 1 } }, '/attributes/no space'],
    [{ attributes: { x: 'y'.repeat(257) } }, '/attributes/x'],
    [{ attributes: { x: ['y'] } }, '/attributes/x'],
    [{ attributes: { x: '\u0000' } }, '/attributes/x'],
    [{ attributes: many(51) }, '/attributes'],
    [{ attributes: { x: null } }, '/attributes/x'],
    [{ locale: '' }, '/locale'],
    [{ answer_count: 5 }, '/answer_count'],
    [{ verified: true }, '/verified'],
    [JSON.parse('{"attributes":{"plan":"pro","__proto__":"x"}}'), '/attributes/__proto__'],
    [JSON.parse('{"__proto__":{"locale":"de"}}'), '/__proto__'],
  ])('rejects the update %j', async (body, pointer) => {
    const { ask } = await make();
    const refused = await ask('PUT', pathTo('user|42'), body);
    expectProblem(refused, 422, 'validation-failed');
    expect(refused.body.errors[0].pointer).toBe(pointer);
    expectProblem(await ask('GET', pathTo('user|42')), 404, 'resource-not-found');
  });

  test('has at most fifty attributes, also after partial updates', async () => {
    const { ask } = await make();
    expect((await ask('PUT', pathTo('user|42'), { attributes: many(50) })).status).toBe(201);
    const refused = await ask('PATCH', pathTo('user|42'), { attributes: { more: 1 } });
    expectProblem(refused, 422, 'validation-failed');
    expect((await ask('PATCH', pathTo('user|42'), { attributes: { more: 1, a0: null } })).status).toBe(200);
  });

  test.each(['%00', '%0A', 'x'.repeat(257), 'e%CC%81'])('cannot have the name %s', async name => {
    const { ask } = await make();
    expectProblem(await ask('PUT', `/v1/identities/${name}`, {}), 404, 'resource-not-found');
  });

  test('is read and updated with separate scopes', async () => {
    const { tenant } = await make();
    const reader = (await tenant.addKey({ scopes: ['identities:read'] })).apiKey;
    const writer = (await tenant.addKey({ scopes: ['identities:write'] })).apiKey;
    const send = (method: string, credential: string) =>
      api.request(method, pathTo('user|42'), { as: credential, ...(method === 'GET' ? {} : { body: {} }) });
    expectProblem(await send('PUT', reader), 403, 'insufficient-scope');
    expect((await send('PUT', writer)).status).toBe(201);
    expectProblem(await send('GET', writer), 403, 'insufficient-scope');
    expectProblem(await send('PATCH', reader), 403, 'insufficient-scope');
    expect((await send('GET', reader)).status).toBe(200);
    expectProblem(await send('GET', await tenant.sign('user|42')), 403, 'insufficient-scope');
  });

  test('is separate for each tenant', async () => {
    const [one, other] = [await make(), await make()];
    await one.ask('PUT', pathTo('user|42'), { locale: 'de' });
    expectProblem(await other.ask('GET', pathTo('user|42')), 404, 'resource-not-found');
    await other.ask('PUT', pathTo('user|42'), { locale: 'en' });
    expect((await one.ask('GET', pathTo('user|42'))).body.locale).toBe('de');
  });
});

describe("a profile from the user's app", () => {
  const allow = async (tenant: TestTenant, names: string[]) => {
    const { headers } = await makeMember(api, tenant, 'owner');
    const body = { identity_attributes_allowed: names };
    expect((await api.request('PATCH', '/v1/tenant', { headers, body })).status).toBe(200);
  };
  const update = (token: string, body: unknown) => api.request('PATCH', '/v1/me/attributes', { as: token, body });

  test('is accepted for the names listed by the tenant, and returns no others', async () => {
    const { tenant, ask } = await make();
    await allow(tenant, ['plan', 'seats']);
    await ask('PUT', pathTo('user|42'), { attributes: { churn_risk: 'high', plan: 'free' }, locale: 'de' });
    const token = await tenant.sign('user|42');
    const reply = await update(token, { attributes: { plan: 'pro', seats: 5 } });
    expect(reply).toMatchObject({ status: 200, body: { attributes: { plan: 'pro', seats: 5 } } });
    expect(reply.body.attributes).not.toHaveProperty('churn_risk');
    expect((await update(token, { attributes: { seats: null } })).body).toEqual({ attributes: { plan: 'pro' } });
    const known = await ask('GET', pathTo('user|42'));
    expect(known.body).toMatchObject({ attributes: { churn_risk: 'high', plan: 'pro' }, locale: 'de', verified: true });
  });

  test('is stored without reading answers', async () => {
    const { tenant } = await make();
    await allow(tenant, ['plan']);
    const token = await tenant.sign('user|42');
    await using closing = new AsyncDisposableStack();
    const blocker = new Client({ connectionString: api.database.url });
    await blocker.connect();
    closing.defer(() => blocker.end());
    await blocker.query('begin');
    await blocker.query('lock table answers in access exclusive mode'); // a query would wait and then fail
    expect((await update(token, { attributes: { plan: 'pro' } })).status).toBe(200);
  });

  test('creates an unknown user, within its own tenant', async () => {
    const { tenant, ask } = await make();
    const other = await make();
    await allow(tenant, ['plan']);
    expect((await update(await tenant.sign('user|new'), { attributes: { plan: 'pro' } })).status).toBe(200);
    expect((await ask('GET', pathTo('user|new'))).body.attributes).toEqual({ plan: 'pro' });
    expectProblem(await other.ask('GET', pathTo('user|new')), 404, 'resource-not-found');
  });

  test('is rejected as a whole for one unlisted name, and the list is empty at first', async () => {
    const { tenant, ask } = await make();
    const token = await tenant.sign('user|42');
    expectProblem(await update(token, { attributes: { plan: 'pro' } }), 422, 'validation-failed');
    await allow(tenant, ['plan']);
    const reply = await update(token, { attributes: { plan: 'pro', churn_risk: 'low' } });
    expect(reply.body.errors).toEqual([
      {
        pointer: '/attributes/churn_risk',
        code: 'not-allowed',
        detail: 'Must be listed in `identity_attributes_allowed` of the tenant.',
      },
    ]);
    expectProblem(await update(token, { attributes: { churn_risk: null } }), 422, 'validation-failed');
    expectProblem(await ask('GET', pathTo('user|42')), 404, 'resource-not-found');
  });

  test.each([
    {},
    { attributes: null },
    { attributes: { plan: { deep: 1 } } },
    { attributes: { plan: 'x'.repeat(257) } },
    { attributes: { 'a b': 1 } },
    { attributes: {}, locale: 'de' },
    { plan: 'pro' },
  ])('%j is rejected', async body => {
    const { tenant } = await make();
    await allow(tenant, ['plan']);
    expectProblem(await update(await tenant.sign('user|42'), body), 422, 'validation-failed');
  });

  test('is only accepted from verified users', async () => {
    const { tenant } = await make();
    await allow(tenant, ['plan']);
    const body = { attributes: { plan: 'pro' } };
    expectProblem(await update(await claimToken(api, tenant, 'user|42'), body), 403, 'public-access-restricted');
    expectProblem(await update(tenant.key.apiKey, body), 403, 'insufficient-scope');
  });
});

describe('the list of identities', () => {
  test('contains each once, in byte order, page by page', async () => {
    const { tenant, ask } = await make();
    const { id } = await publishQuestion(api, tenant);
    const second = await publishQuestion(api, tenant);
    const answered = ['b', 'd', 'Z', 'ä'];
    const answers = [id, second.id].flatMap(question_id =>
      answered.map(identity => anAnswer({ question_id, identity, state: 'seen', values: {} })),
    );
    await store(tenant, tenant.key.apiKey, ...answers);
    for (const identity of ['a', 'd']) await ask('POST', '/v1/conversations', { message: 'Hello', identity });
    for (const identity of ['c', 'b']) await ask('PUT', pathTo(identity), { attributes: { updated: true } });
    const listed: unknown[][] = [];
    for (let query = '?limit=2'; ; ) {
      const { body } = await ask('GET', `/v1/identities${query}`);
      listed.push(
        ...body.data.map((row: Record<string, unknown>) => [row.identity, row.answer_count, row.conversation_count]),
      );
      if (!body.next_cursor) break;
      query = `?limit=2&cursor=${body.next_cursor}`;
    }
    expect(listed).toEqual([
      ['Z', 2, 0],
      ['a', 0, 1],
      ['b', 2, 0],
      ['c', 0, 0],
      ['d', 2, 1],
      ['ä', 2, 0],
    ]);
  });

  test('is filtered by verification and by prefix', async () => {
    const { ask } = await make();
    for (const identity of ['user|1', 'user|42', 'company|1', 'user%']) await ask('PUT', pathTo(identity), {});
    await ask('PUT', pathTo('user|42', '?verified=false'), {});
    const list = async (query: string) =>
      (await ask('GET', `/v1/identities${query}`)).body.data.map(
        (row: Record<string, unknown>) => `${row.identity} ${row.verified}`,
      );
    expect(await list('?q=user%7C')).toEqual(['user|1 true', 'user|42 false', 'user|42 true']);
    expect(await list('?q=user%25')).toEqual(['user% true']);
    expect(await list('?q=user%7C42&verified=true')).toEqual(['user|42 true']);
    expect(await list('?verified=false')).toEqual(['user|42 false']);
    for (const query of ['?q=', '?q=%00', '?verified=yes', '?limit=0'])
      expectProblem(await ask('GET', `/v1/identities${query}`), 422, 'validation-failed');
    expectProblem(await ask('GET', '/v1/identities?sort=name'), 400, 'unknown-parameter');
  });
});
