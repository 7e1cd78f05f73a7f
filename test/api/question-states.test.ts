import { afterAll, describe, expect, test } from 'vitest';
import { createApi } from '../support/api.ts';
import { aQuestion, publishQuestion } from '../support/make.ts';
import { expectProblem, makeAsker } from '../support/questions.ts';

const api = await createApi();
afterAll(() => api[Symbol.asyncDispose]());
const make = () => makeAsker(api);

describe('the life of a question', () => {
  test('goes from draft over live and paused to closed and archived', async () => {
    const { ask } = await make();
    const { id } = (await ask('POST', '', aQuestion())).body;
    const statuses = [];
    for (const action of ['publish', 'pause', 'resume', 'pause', 'close', 'archive']) {
      const { status, body } = await ask('POST', `/${id}/${action}`);
      expect(status).toBe(200);
      statuses.push(body.status);
    }
    expect(statuses).toEqual(['live', 'paused', 'live', 'paused', 'closed', 'archived']);
    const { published_at, closed_at, version } = (await ask('GET', `/${id}`)).body;
    expect([typeof published_at, typeof closed_at, version]).toEqual(['string', 'string', 1]);
  });

  test('does not begin for a draft that requires more choices than it has options', async () => {
    const { ask } = await make();
    const options = ['a', 'b'].map(id => ({ id, label: id }));
    const config = { options, min: 3 };
    const { id } = (await ask('POST', '', { ...aQuestion(), type: 'multi_choice', config })).body;
    const refused = await ask('POST', `/${id}/publish`);
    expectProblem(refused, 422, 'validation-failed');
    const detail = 'Must be at most 2, the number of options.';
    expect(refused.body.errors).toEqual([{ pointer: '/config/min', code: 'conflicting', detail }]);
    await ask('PATCH', `/${id}`, { config: { ...config, allow_other: true } });
    expect((await ask('POST', `/${id}/publish`)).status).toBe(200);
    const step = { key: 'why', type: 'multi_choice', title: 'Why?', config: { ...config, min: 4, allow_other: true } };
    const changed = await ask('PATCH', `/${id}`, { follow_ups: [step] });
    expect(changed.body.errors).toEqual([
      {
        pointer: '/follow_ups/0/config/min',
        code: 'conflicting',
        detail: 'Must be at most 3, the number of options with "other".',
      },
    ]);
  });

  const LEGAL: Record<string, string[]> = {
    draft: ['publish'],
    scheduled: ['publish', 'close'],
    live: ['pause', 'close'],
    paused: ['resume', 'close'],
    closed: ['archive'],
    archived: [],
  };
  const WAYS: Record<string, string[]> = {
    draft: [],
    scheduled: ['publish'],
    live: ['publish'],
    paused: ['publish', 'pause'],
    closed: ['publish', 'close'],
    archived: ['publish', 'close', 'archive'],
  };
  const NEXT = {
    ...{ draft: ['live'], scheduled: ['live', 'closed'], live: ['paused', 'closed'] },
    ...{ paused: ['live', 'closed'], closed: ['archived'] },
  };

  test.each(Object.keys(WAYS))('rejects in the state %s every action that does not start there', async state => {
    const { ask } = await make();
    const schedule = state === 'scheduled' ? { start_at: '2099-01-01T00:00:00.000Z' } : {};
    const { id } = (await ask('POST', '', aQuestion({ schedule }))).body;
    for (const action of WAYS[state] as string[]) await ask('POST', `/${id}/${action}`);
    for (const action of ['publish', 'pause', 'resume', 'close', 'archive']) {
      if (LEGAL[state]?.includes(action)) continue;
      const refused = await ask('POST', `/${id}/${action}`);
      expectProblem(refused, 409, 'invalid-transition');
      expect(refused.body).toMatchObject({ from: state, allowed: NEXT[state as keyof typeof NEXT] ?? [] });
    }
    const removed = await ask('DELETE', `/${id}`);
    if (state === 'draft') expect(removed.status).toBe(204);
    else expectProblem(removed, 409, 'invalid-transition');
    expect((await ask('GET', `/${id}`)).status).toBe(state === 'draft' ? 404 : 200);
  });

  test('can be repeated as a clone: a draft with the same content', async () => {
    const { tenant, ask } = await make();
    const original = await publishQuestion(api, tenant, { title: 'One', allow_public: true, priority: 3 });
    await ask('POST', `/${original.id}/close`);
    const clone = await ask('POST', `/${original.id}/clone`);
    expect(clone.status).toBe(201);
    expect(clone.headers.get('location')).toBe(`/v1/questions/${clone.body.id}`);
    expect(clone.body.id).not.toBe(original.id);
    const { id: _, created_at, updated_at, published_at, closed_at, status, ...content } = clone.body;
    expect(original).toMatchObject(content);
    expect([status, published_at, closed_at]).toEqual(['draft', null, null]);
    expect(created_at).toBe(updated_at);
  });

  test('has at most 2,000 questions per tenant, even with concurrent creation', async () => {
    const { tenant, ask } = await make();
    const { id } = (await ask('POST', '', aQuestion())).body;
    await api.database.query(
      `insert into questions select tenant_id, gen_random_uuid(), name, 'archived', version, type, title, description, config,
         frequency, allow_public, priority, created_at, updated_at, published_at, closed_at
       from questions, generate_series(1, 1996) where tenant_id = $1`,
      [tenant.uuid],
    );
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, number) =>
        number % 2 ? ask('POST', `/${id}/clone`) : ask('POST', '', aQuestion()),
      ),
    );
    expect(made.filter(({ status }) => status < 300)).toHaveLength(3);
    for (const refused of made.filter(({ status }) => status >= 300)) expectProblem(refused, 409, 'limit-reached');
    await ask('DELETE', `/${id}`);
    expect((await ask('POST', '', aQuestion())).status).toBe(201);
    expectProblem(await ask('POST', '', aQuestion()), 409, 'limit-reached');
  });

  test('has at most 50 new versions in 24 hours, even with concurrent publication', async () => {
    const { tenant, ask } = await make();
    const { id } = await publishQuestion(api, tenant);
    for (let title = 2; title <= 45; title++) await ask('PATCH', `/${id}`, { title: `${title}` });
    const patched = await Promise.all(
      Array.from({ length: 12 }, (_, number) => ask('PATCH', `/${id}`, { title: `at once ${number}` })),
    );
    expect(patched.filter(({ status }) => status === 200)).toHaveLength(5);
    for (const refused of patched.filter(({ status }) => status !== 200)) expectProblem(refused, 409, 'limit-reached');
    const question = (await ask('GET', `/${id}`)).body;
    expect(question.version).toBe(50);
    expectProblem(await ask('PATCH', `/${id}`, { title: 'one more' }), 409, 'limit-reached');
    expect((await ask('GET', `/${id}`)).body).toEqual(question);
    expect((await ask('PATCH', `/${id}`, { priority: 5 })).status).toBe(200); // no new version
    await api.database.query(
      `update question_versions set created_at = created_at - interval '24 hours' where tenant_id = $1 and version = 1`,
      [tenant.uuid],
    );
    expect((await ask('PATCH', `/${id}`, { title: 'a day later' })).body.version).toBe(51);
    expectProblem(await ask('PATCH', `/${id}`, { title: 'and one more' }), 409, 'limit-reached');
  });

  test('has at most 200 live questions per tenant, on every way to become live', async () => {
    const { tenant, ask } = await make();
    const { id } = await publishQuestion(api, tenant);
    await ask('POST', `/${id}/pause`);
    const draft = (await ask('POST', '', aQuestion())).body.id;
    await api.database.query(
      `insert into questions select tenant_id, gen_random_uuid(), name, 'live', version, type, title, description, config,
         frequency, allow_public, priority, created_at, updated_at, published_at, closed_at
       from questions, generate_series(1, 200) where tenant_id = $1 and status = 'paused'`,
      [tenant.uuid],
    );
    expectProblem(await ask('POST', `/${id}/resume`), 409, 'limit-reached');
    expectProblem(await ask('POST', `/${draft}/publish`), 409, 'limit-reached');
    expect((await ask('GET', `/${draft}`)).body.status).toBe('draft');
    expect((await ask('GET', `/${draft}/versions`)).body.data).toEqual([]);
  });
});
