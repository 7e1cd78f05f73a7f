import { afterAll, describe, expect, test } from 'vitest';
import { createApi } from '../support/api.ts';
import { aQuestion, makeTenant, publishQuestion } from '../support/make.ts';
import { expectProblem, makeAsker } from '../support/questions.ts';

const api = await createApi();
afterAll(() => api[Symbol.asyncDispose]());
const make = () => makeAsker(api);

const MISSING = 'question_01jdps6h00e008000000000000';
const OPTIONS = [
  { id: 'a', label: 'A' },
  { id: 'b', label: 'B' },
];

describe('creating a question', () => {
  test('creates a draft with every default, at the path in Location', async () => {
    const { ask } = await make();
    const created = await ask('POST', '', { type: 'ces', title: 'How easy was it?' });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^question_[0-9a-z]{26}$/),
      name: 'How easy was it?',
      status: 'draft',
      version: 1,
      type: 'ces',
      title: 'How easy was it?',
      description: '',
      config: { scale: 7 },
      follow_ups: [],
      locale: 'en',
      translations: {},
      audience: null,
      schedule: { start_at: null, end_at: null },
      trigger: null,
      frequency: {
        ...{ repeat: 'until_answered', every_days: null, max_displays: null },
        ...{ snooze_after_dismiss_days: 30, ignore_cooldown: false },
      },
      sampling_percent: 100,
      response_limit: null,
      allow_public: false,
      priority: 0,
      thanks: null,
      placement: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: created.body.created_at,
      published_at: null,
      closed_at: null,
    });
    expect(created.headers.get('location')).toBe(`/v1/questions/${created.body.id}`);
    expect((await ask('GET', `/${created.body.id}`)).body).toEqual(created.body);
  });

  test('rejects invalid fields, with a pointer to each', async () => {
    const { ask } = await make();
    const refused = await ask('POST', '', { type: 'rating', title: '', config: { scale: 99 }, status: 'live' });
    expectProblem(refused, 422, 'validation-failed');
    expect(refused.body.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual([
      '/config/scale',
      '/status',
      '/title',
    ]);
    expectProblem(await ask('POST', '', { type: 'slider', title: 'x' }), 422, 'validation-failed');
    expectProblem(await ask('POST', ''), 422, 'validation-failed');
  });

  test('names a question after its title without splitting a character', async () => {
    const { ask } = await make();
    const { body } = await ask('POST', '', { type: 'nps', title: `${'x'.repeat(119)}🙂🙂` });
    expect(body.name).toBe('x'.repeat(119));
  });

  test.each([
    { type: 'nps', title: 'a\u0000b' },
    { type: 'nps', title: '\ud800' },
    { type: 'statement', title: 'x', config: { url: 'https://example.com/\u0000' } },
    { type: 'statement', title: 'x', config: { url: 'https://example.com/\udfff' } },
    { type: 'nps', title: 'x', config: { labels: { low: '\u0000', high: 'x' } } },
  ])('rejects text that cannot be stored: %j', async body => {
    const { ask } = await make();
    expectProblem(await ask('POST', '', body), 422, 'validation-failed');
  });
});

describe('reading questions', () => {
  test('replies to If-None-Match with 304 until the question changes', async () => {
    const { ask } = await make();
    const { id } = (await ask('POST', '', aQuestion())).body;
    const etag = (await ask('GET', `/${id}`)).headers.get('etag') as string;
    expect(etag).toMatch(/^"[^"]+"$/);
    const unchanged = await ask('GET', `/${id}`, undefined, { 'If-None-Match': etag });
    expect([unchanged.status, unchanged.body, unchanged.headers.get('etag')]).toEqual([304, '', etag]);
    await ask('PATCH', `/${id}`, { title: 'Changed' });
    expect((await ask('GET', `/${id}`, undefined, { 'If-None-Match': etag })).status).toBe(200);
  });

  test('lists them newest first, page by page, each once', async () => {
    const { ask } = await make();
    const made: string[] = [];
    for (let index = 0; index < 7; index++) made.push((await ask('POST', '', aQuestion())).body.id);
    expect((await ask('GET', '')).body).toMatchObject({ has_more: false, next_cursor: null });
    const listed: string[] = [];
    let path = '?limit=3';
    for (;;) {
      const page = await ask('GET', path);
      listed.push(...page.body.data.map(({ id }: { id: string }) => id));
      expect(page.body.has_more).toBe(page.body.next_cursor !== null);
      if (!page.body.has_more) break;
      const next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') as string)?.[1] as string;
      path = new URL(next).search;
    }
    expect(listed).toEqual(made.toReversed());
  });

  test('filters by status, type, and a part of the name or title', async () => {
    const { tenant, ask } = await make();
    await publishQuestion(api, tenant, { title: 'Live one', name: 'first' });
    await ask('POST', '', aQuestion({ type: 'thumbs', title: '100% sure?' }));
    const titles = async (query: string) =>
      (await ask('GET', query)).body.data.map(({ title }: { title: string }) => title);
    expect(await titles('?status=live')).toEqual(['Live one']);
    expect(await titles('?status=archived')).toEqual([]);
    expect(await titles('?type=thumbs')).toEqual(['100% sure?']);
    expect(await titles('?q=FIRST')).toEqual(['Live one']);
    expect(await titles('?q=0%25')).toEqual(['100% sure?']);
    expect(await titles('?q=_')).toEqual([]);
    expect(await titles('?q=%5C')).toEqual([]);
  });

  test.each([
    ['?status=gone', 422, 'validation-failed'],
    ['?type=slider', 422, 'validation-failed'],
    ['?q=', 422, 'validation-failed'],
    ['?q=%00', 422, 'validation-failed'],
    ['?limit=0', 422, 'validation-failed'],
    ['?limit=101', 422, 'validation-failed'],
    ['?limit=+5', 422, 'validation-failed'],
    ['?limit=1;drop', 422, 'validation-failed'],
    ['?limit=5&limit=6', 400, 'repeated-parameter'],
    ['?sort=name', 400, 'unknown-parameter'],
    ['?cursor=AAAA', 400, 'invalid-cursor'],
  ])('rejects %s with %i %s', async (query, status, code) => {
    const { ask } = await make();
    expectProblem(await ask('GET', query), status, code);
  });

  test('returns 404 for a missing id, another kind or another tenant', async () => {
    const [{ ask }, other] = [await make(), await make()];
    const foreign = (await other.ask('POST', '', aQuestion())).body.id;
    for (const id of [MISSING, 'x', 'card_01jdps6h00e008000000000000', foreign, '%00', 'question_%ff']) {
      const reply = await ask('GET', `/${id}`);
      expect([400, 404]).toContain(reply.status);
      if (id === foreign || id === MISSING) expectProblem(reply, 404, 'resource-not-found');
    }
  });
});

describe('changing a question', () => {
  test('of a draft can change everything and creates no version', async () => {
    const { ask } = await make();
    const { id } = (await ask('POST', '', aQuestion())).body;
    const changed = await ask('PATCH', `/${id}`, {
      type: 'single_choice',
      config: { options: OPTIONS },
      title: 'Which?',
      frequency: { repeat: 'always' },
    });
    expect(changed.body).toMatchObject({
      type: 'single_choice',
      version: 1,
      title: 'Which?',
      config: { options: OPTIONS, allow_other: false, shuffle: false },
      frequency: { repeat: 'always', snooze_after_dismiss_days: 30, ignore_cooldown: false },
    });
    expect((await ask('GET', `/${id}/versions`)).body.data).toEqual([]);
    expect((await ask('PATCH', `/${id}`, { type: 'nps' })).body.config).toEqual({});
  });

  test("validates the config against the draft's current or new type", async () => {
    const { ask } = await make();
    const { id } = (await ask('POST', '', aQuestion())).body;
    const refused = await ask('PATCH', `/${id}`, { config: { scale: 5 } });
    expectProblem(refused, 422, 'validation-failed');
    expect(refused.body.errors[0].pointer).toBe('/config/scale');
    expectProblem(await ask('PATCH', `/${id}`, { type: 'single_choice' }), 422, 'validation-failed');
    expect((await ask('PATCH', `/${id}`, { type: 'ces', config: { scale: 5 } })).status).toBe(200);
  });

  test('of a live question creates an immutable version if users see a change', async () => {
    const { tenant, ask } = await make();
    const { id } = await publishQuestion(api, tenant, { title: 'One' });
    expect((await ask('PATCH', `/${id}`, { title: 'Two' })).body.version).toBe(2);
    expect((await ask('PATCH', `/${id}`, { config: { labels: { low: 'Never' } } })).body.version).toBe(3);
    expect((await ask('PATCH', `/${id}`, { name: 'n', priority: 5, allow_public: true })).body.version).toBe(3);
    const versions = (await ask('GET', `/${id}/versions`)).body.data;
    expect(versions).toMatchObject([
      { question_id: id, version: 3, title: 'Two', config: { labels: { low: 'Never' } } },
      { question_id: id, version: 2, title: 'Two', config: {} },
      { question_id: id, version: 1, title: 'One', config: {} },
    ]);
    const first = await ask('GET', `/${id}/versions?limit=2`);
    const rest = await ask('GET', `/${id}/versions?limit=2&cursor=${first.body.next_cursor}`);
    expect([...first.body.data, ...rest.body.data]).toEqual(versions);
    expect(versions.map(({ changes }: { changes: unknown }) => changes)).toEqual([
      [{ pointer: '/config/labels', before: null, after: { low: 'Never' } }],
      [{ pointer: '/title', before: 'One', after: 'Two' }],
      [],
    ]);
  });

  test('of a live question to its current content creates no version', async () => {
    const { tenant, ask } = await make();
    const config = { options: OPTIONS, shuffle: true, allow_other: true, min: 1, max: 2 };
    const { id, title } = await publishQuestion(api, tenant, { type: 'multi_choice', config });
    expect((await ask('PATCH', `/${id}`, { config, title })).body.version).toBe(1);
    expect((await ask('PATCH', `/${id}`, {})).body.version).toBe(1);
  });

  test.each([
    [{ type: 'thumbs' }, '/type'],
    [{ type: 'single_choice' }, '/type'],
    [{ config: { scale: 7 } }, '/config/scale'],
  ])("rejects changes to the meaning of a live question's stored values: %j", async (patch, pointer) => {
    const { tenant, ask } = await make();
    const { id } = await publishQuestion(api, tenant, { type: 'ces', config: { scale: 5 } });
    const refused = await ask('PATCH', `/${id}`, patch);
    expectProblem(refused, 409, 'immutable-field');
    expect(refused.body.errors[0].pointer).toBe(pointer);
    expect((await ask('GET', `/${id}`)).body).toMatchObject({ type: 'ces', config: { scale: 5 }, version: 1 });
  });

  test('allows renaming and reordering the options of a live question, not adding or removing them', async () => {
    const { tenant, ask } = await make();
    const { id } = await publishQuestion(api, tenant, { type: 'single_choice', config: { options: OPTIONS } });
    const renamed = [OPTIONS[1], { id: 'a', label: 'Another' }];
    expect((await ask('PATCH', `/${id}`, { config: { options: renamed } })).body).toMatchObject({ version: 2 });
    for (const options of [
      [...OPTIONS, { id: 'c', label: 'C' }],
      [OPTIONS[0], { id: 'c', label: 'C' }],
    ])
      expectProblem(await ask('PATCH', `/${id}`, { config: { options } }), 409, 'immutable-field');
  });

  test('is rejected once the question is closed', async () => {
    const { tenant, ask } = await make();
    const { id } = await publishQuestion(api, tenant);
    await ask('POST', `/${id}/close`);
    const refused = await ask('PATCH', `/${id}`, { title: 'x' });
    expectProblem(refused, 409, 'invalid-transition');
    expect(refused.body).toMatchObject({ from: 'closed', allowed: ['archived'] });
  });

  test('is rejected with 412 if If-Match names another version, for PATCH, DELETE and actions', async () => {
    const { ask } = await make();
    const { id } = (await ask('POST', '', aQuestion())).body;
    const etag = (await ask('GET', `/${id}`)).headers.get('etag') as string;
    const stale = { 'If-Match': '"stale"' };
    expectProblem(await ask('PATCH', `/${id}`, { title: 'x' }, stale), 412, 'precondition-failed');
    expectProblem(await ask('POST', `/${id}/publish`, undefined, stale), 412, 'precondition-failed');
    expectProblem(await ask('DELETE', `/${id}`, undefined, stale), 412, 'precondition-failed');
    expect((await ask('PATCH', `/${id}`, { title: 'Changed' }, { 'If-Match': etag })).status).toBe(200);
    expectProblem(await ask('DELETE', `/${id}`, undefined, { 'If-Match': etag }), 412, 'precondition-failed');
    const current = (await ask('GET', `/${id}`)).headers.get('etag') as string;
    expect((await ask('DELETE', `/${id}`, undefined, { 'If-Match': `"other", ${current}` })).status).toBe(204);
  });

  test('by concurrent requests creates one version each', async () => {
    const { tenant, ask } = await make();
    const { id } = await publishQuestion(api, tenant);
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, index) => ask('PATCH', `/${id}`, { title: `Title ${index}` })),
    );
    expect(replies.map(reply => reply.body.version).sort()).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    expect((await ask('GET', `/${id}/versions`)).body.data).toHaveLength(9);
  });
});

test('reading and writing questions each need a scope, which tokens do not have', async () => {
  const tenant = await makeTenant(api);
  const reader = await tenant.addKey({ scopes: ['questions:read'] });
  const writer = await tenant.addKey({ scopes: ['questions:write'] });
  const send = (method: string, credential: string) =>
    api.request(method, '/v1/questions', { as: credential, ...(method === 'POST' ? { body: aQuestion() } : {}) });
  expect((await send('GET', reader.apiKey)).status).toBe(200);
  expectProblem(await send('POST', reader.apiKey), 403, 'insufficient-scope');
  expect((await send('POST', writer.apiKey)).status).toBe(201);
  expectProblem(await send('GET', writer.apiKey), 403, 'insufficient-scope');
  expectProblem(await send('GET', await tenant.sign('user|42')), 403, 'insufficient-scope');
});
