import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, createWorker, type TestReply, waitFor } from '../support/api.ts';
import {
  anAnswer,
  answerTo,
  aQuestion,
  claimToken,
  makeTenant,
  publishQuestion,
  type TestTenant,
} from '../support/make.ts';

const api = await createApi();
const worker = await createWorker(api);
afterAll(async () => {
  await worker.close();
  await api[Symbol.asyncDispose]();
});

const MISSING = 'question_01jdps6h00e008000000000000';

const ask = (tenant: TestTenant, path: string, headers: Record<string, string> = {}) =>
  api.request('GET', `/v1/questions${path}`, { as: tenant.key.apiKey, headers });

const expectProblem = (reply: TestReply, status: number, code: string) =>
  expect({ status: reply.status, code: reply.body.code }).toEqual({ status, code });

/** Sends answers to a question with the tenant's key and waits until they are stored. */
async function store(tenant: TestTenant, questionId: string, ...fields: Record<string, unknown>[]) {
  const answers = fields.map(more => anAnswer({ identity: 'user|42', question_id: questionId, ...more }));
  const as = tenant.key.apiKey;
  const { body } = await api.request('POST', '/v1/answers', { as, body: { answers } });
  expect(body.results.map(({ status }: { status: string }) => status)).toEqual(answers.map(() => 'accepted'));
  const read = (id: string) => api.request('GET', `/v1/answers/${id}`, { as });
  for (const { id, revision } of answers) await waitFor(async () => (await read(id)).body.revision === revision);
  return answers;
}

const today = () => new Date().toISOString().slice(0, 10);

describe('the results of a question', () => {
  test('include an answer once it is stored, change with its revision, and exclude it after its deletion', async () => {
    const tenant = await makeTenant(api);
    const { id } = await publishQuestion(api, tenant);
    const path = `/${id}/results`;
    const none = await ask(tenant, path);
    expect(none.status).toBe(200);
    const given = (await store(tenant, id, { state: 'partial', values: { main: 10 } }))[0] as { id: string };
    const etag = none.headers.get('etag') as string;
    const one = await ask(tenant, path, { 'If-None-Match': etag });
    const value = { value: 10, count: 1, share: 1 };
    const figures = {
      ...{ displays: 1, answered: 1, response_rate: 1 },
      score: { measure: 'nps', value: 100, answers: 1, interval: null },
      values: [...none.body.values.slice(0, 10).map((each: object) => ({ ...each, share: 0 })), value],
    };
    expect(one.body).toEqual({
      ...{
        question_id: id,
        type: 'nps',
        from: null,
        to: null,
        group_by: 'day',
        version: null,
        verified: null,
        step: 'main',
        test: false,
      },
      ...{ seen: 0, dismissed: 0, partial: 1, completed: 0, written: 0 },
      ...figures,
      steps: [expect.objectContaining({ key: 'main', shown: 1, answered: 1, skipped: 0, left: 0 })],
      over_time: [{ start: today(), ...figures }],
      versions: [{ version: 1, ...figures }],
    });
    const unchanged = await ask(tenant, path, { 'If-None-Match': one.headers.get('etag') as string });
    expect(unchanged.status).toBe(304);

    const revised = { ...given, revision: 2, state: 'completed', values: { main: 0 }, comment: 'Slow' };
    await store(tenant, id, revised, { identity: 'user|43', state: 'seen', values: {} });
    expect((await ask(tenant, path)).body).toMatchObject({
      ...{ displays: 2, answered: 1, seen: 1, partial: 0, completed: 1, written: 1, response_rate: 0.5 },
      score: { value: -100, answers: 1 },
    });
    await api.request('DELETE', `/v1/answers/${given.id}`, { as: tenant.key.apiKey });
    expect((await ask(tenant, path)).body).toMatchObject({ displays: 1, answered: 0, score: { value: null } });
  });

  describe('cover', () => {
    let tenant: TestTenant;
    let path: string;
    beforeAll(async () => {
      tenant = await makeTenant(api);
      const { id } = await publishQuestion(api, tenant, { allow_public: true });
      path = `/${id}/results`;
      await store(tenant, id, { values: { main: 9 } });
      await api.database.query("update question_results set day = '2026-03-01' where tenant_id = $1", [tenant.uuid]);
      await api.request('PATCH', `/v1/questions/${id}`, { as: tenant.key.apiKey, body: { title: 'Still likely?' } });
      const token = await claimToken(api, tenant, 'user|42');
      const card = await waitFor(async () => {
        const [found] = (await api.request('GET', '/v1/cards', { as: token })).body.data;
        return found?.question_version === 2 && found;
      });
      await api.request('POST', '/v1/answers', {
        as: token,
        body: { answers: [answerTo(card, { values: { main: 2 } })] },
      });
      await waitFor(async () => (await ask(tenant, path)).body.displays === 2);
    });

    test.each([
      ['', 2, 0],
      ['?version=1', 1, 100],
      ['?version=2', 1, -100],
      ['?version=3', 0, null],
      ['?verified=true', 1, 100],
      ['?verified=false', 1, -100],
      ['?from=2026-03-01&to=2026-03-01', 1, 100],
      ['?from=2026-03-02', 1, -100],
      ['?to=2026-02-28', 0, null],
      ['?from=0001-01-01&to=9999-12-31&group_by=month', 2, 0],
      ['?group_by=week', 2, 0],
    ])('%s %i answers with a score of %j', async (query, displays, value) => {
      const { status, body } = await ask(tenant, path + query);
      expect({ status, displays: body.displays, value: body.score.value }).toEqual({ status: 200, displays, value });
    });

    test('each version, the newest first', async () => {
      const { versions } = (await ask(tenant, path)).body;
      expect(versions).toMatchObject([
        { version: 2, displays: 1, score: { value: -100 } },
        { version: 1, displays: 1, score: { value: 100 } },
      ]);
    });

    test.each([
      ['?group_by=year', 422, 'validation-failed'],
      ['?from=2026-02-30', 422, 'validation-failed'],
      ['?from=0000-01-01', 422, 'validation-failed'],
      ['?to=2026-11-21T00:00:00Z', 422, 'validation-failed'],
      ['?from=2026-11-22&to=2026-11-21', 422, 'validation-failed'],
      ['?version=0', 422, 'validation-failed'],
      ['?version=99999999999', 422, 'validation-failed'],
      ['?verified=1', 422, 'validation-failed'],
      ['?limit=5', 400, 'unknown-parameter'],
      ['?from=2026-11-21&from=2026-11-21', 400, 'repeated-parameter'],
    ])('reject the query %s', async (query, status, code) => {
      expectProblem(await ask(tenant, path + query), status, code);
    });

    test('no missing question, and need the scope of questions', async () => {
      expectProblem(await ask(tenant, `/${MISSING}/results`), 404, 'resource-not-found');
      const key = await tenant.addKey({ scopes: ['answers:read'] });
      expectProblem(await api.request('GET', `/v1/questions${path}`, { as: key.apiKey }), 403, 'insufficient-scope');
    });
  });
});

describe('the list of questions', () => {
  test('includes the figures of each on request, zeros without answers', async () => {
    const tenant = await makeTenant(api);
    const asked = await publishQuestion(api, tenant, { type: 'csat' });
    await api.request('POST', '/v1/questions', { as: tenant.key.apiKey, body: aQuestion({ type: 'text' }) });
    await store(tenant, asked.id, { values: { main: 5 } }, { identity: 'b', state: 'dismissed', values: {} });
    const { data } = (await ask(tenant, '?include=results')).body;
    expect(data.map(({ results }: { results: unknown }) => results)).toEqual([
      { displays: 0, answered: 0, answered_7_days: 0, response_rate: null, score: null },
      {
        ...{ displays: 2, answered: 1, answered_7_days: 1, response_rate: 0.5 },
        score: { measure: 'csat', value: 100, answers: 1, interval: null },
      },
    ]);
    expect((await ask(tenant, '')).body.data[0]).not.toHaveProperty('results');
    expectProblem(await ask(tenant, '?include=everything'), 422, 'validation-failed');
  });
});
