import { afterAll, describe, expect, test } from 'vitest';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { anAnswer, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { makeMember } from '../support/person.ts';
import { expectProblem } from '../support/questions.ts';

const api = await createApi();
const worker = await createWorker(api);
afterAll(async () => {
  await worker.close();
  await api[Symbol.asyncDispose]();
});

async function makeScene() {
  const tenant = await makeTenant(api);
  const { headers } = await makeMember(api, tenant, 'owner');
  const ask = (method: string, path: string, body?: object) =>
    api.request(method, path, {
      headers: { ...headers, ...(body ? { 'Content-Type': 'application/json' } : {}) },
      body,
    });
  return { tenant, ask };
}

const pro = { all: [{ attribute: 'plan', op: 'eq', value: 'pro' }] };
const put = (tenant: TestTenant, identity: string, attributes: object) =>
  api.request('PUT', `/v1/identities/${identity}`, { as: tenant.key.apiKey, body: { attributes } });

describe('card decisions', () => {
  test('name no time that RFC 3339 cannot express', async () => {
    const { tenant, ask } = await makeScene();
    const audience = { all: [{ attribute: 'ended_on', op: 'older_than_days', value: 30 }] };
    await publishQuestion(api, tenant, { audience });
    await put(tenant, 'ada', { ended_on: '9999-11-30' });
    const gate = async () =>
      (await ask('GET', '/v1/identities/ada/card-decisions')).body.data[0].gates.find(
        (each: { gate: string }) => each.gate === 'audience',
      );
    expect(await gate()).toEqual({ gate: 'audience', passed: false, passes_at: '9999-12-30T00:00:00.000Z' });
    await put(tenant, 'ada', { ended_on: '9999-12-31' });
    expect(await gate()).toEqual({ gate: 'audience', passed: false, passes_at: null });
  });

  test('agree with the card list, and name each gate with its time', async () => {
    const { tenant, ask } = await makeScene();
    const end_at = new Date(Date.now() + 86_400_000);
    const start_at = new Date(Date.now() + 3_600_000).toISOString();
    await publishQuestion(api, tenant, { title: 'pro', audience: pro, priority: 5 });
    await publishQuestion(api, tenant, { title: 'first', schedule: { end_at }, priority: 4 });
    await publishQuestion(api, tenant, { title: 'second', priority: 3 });
    await publishQuestion(api, tenant, {
      title: 'later',
      schedule: { start_at },
      frequency: { ignore_cooldown: true },
    });
    const { body, status } = await ask('GET', '/v1/identities/ada/card-decisions');
    expect(status).toBe(200);
    const failing = (body.data as { name: string; shown: boolean; gates: { gate: string; passed: boolean }[] }[]).map(
      ({ name, shown, gates }) => [name, shown, ...gates.filter(({ passed }) => !passed)],
    );
    expect(failing).toEqual([
      ['pro', false, { gate: 'audience', passed: false, passes_at: null }],
      ['first', true],
      ['second', false, { gate: 'cooldown', passed: false, passes_at: null }],
      ['later', false, { gate: 'schedule', passed: false, passes_at: start_at }],
    ]);
    const cards = await api.request('GET', '/v1/cards', { as: await tenant.sign('ada') });
    expect(cards.body.data.map((card: { question_id: string }) => card.question_id)).toEqual(
      body.data
        .filter(({ shown }: { shown: boolean }) => shown)
        .map((each: { question_id: string }) => each.question_id),
    );
    const claimed = await ask('GET', '/v1/identities/ada/card-decisions?verified=false');
    expect(claimed.body.data.every(({ shown }: { shown: boolean }) => !shown)).toBe(true);
  });

  test('and the reach of a question need the scope of an API key', async () => {
    const { tenant } = await makeScene();
    const { id } = await publishQuestion(api, tenant);
    const { apiKey: reader } = await tenant.addKey({ scopes: ['identities:read', 'questions:read'] });
    const { apiKey: other } = await tenant.addKey({ scopes: ['answers:read'] });
    const decisions = (as: string) => api.request('GET', '/v1/identities/ada/card-decisions', { as });
    const reach = (as: string) => api.request('POST', `/v1/questions/${id}/reach`, { as, body: {} });
    expect((await decisions(reader)).body.data).toMatchObject([{ question_id: id, shown: true }]);
    expect((await reach(reader)).body).toEqual({ judged: 0, reached: 0, withheld: {} });
    expectProblem(await decisions(other), 403, 'insufficient-scope');
    expectProblem(await reach(other), 403, 'insufficient-scope');
  });

  test('do not exist for other tenants', async () => {
    const [{ tenant }, other] = [await makeScene(), await makeScene()];
    await publishQuestion(api, tenant);
    expect((await other.ask('GET', '/v1/identities/ada/card-decisions')).body.data).toEqual([]);
  });
});

describe('the reach of a question', () => {
  test('is counted whatever type the device of an answer has', async () => {
    const { tenant, ask } = await makeScene();
    const { id } = await publishQuestion(api, tenant, { frequency: { repeat: 'always', ignore_cooldown: true } });
    const metadata = { locale: true, platform: 5, app_version: 1.5 };
    const answer = anAnswer({ identity: 'ada', question_id: id, metadata });
    await api.request('POST', '/v1/answers', { as: tenant.key.apiKey, body: { answers: [answer] } });
    const reach = (leaf: object) => ask('POST', `/v1/questions/${id}/reach`, { audience: { all: [leaf] } });
    await waitFor(async () => (await ask('GET', `/v1/answers/${answer.id}`)).status === 200);
    for (const leaf of [
      { platform: { op: 'eq', value: '5' } },
      { app_version: { op: 'gte', value: '1.5' } },
      { locale: { op: 'ne', value: 'de' } },
    ])
      expect(await reach(leaf)).toMatchObject({ status: 200, body: { judged: 1, reached: 1 } });
  });

  test('counts the people who were shown a card by the first gate that fails', async () => {
    const { tenant, ask } = await makeScene();
    const shown = await publishQuestion(api, tenant, { frequency: { ignore_cooldown: true } });
    const draft = (await ask('POST', '/v1/questions', { type: 'nps', title: 'Draft' })).body;
    const people = ['ada', 'grace', 'alan', 'edsger'];
    const answers = people.map(identity => anAnswer({ identity, question_id: shown.id }));
    await api.request('POST', '/v1/answers', { as: tenant.key.apiKey, body: { answers } });
    await put(tenant, 'ada', { plan: 'pro' });
    const reach = (body: object = {}, id = draft.id) => ask('POST', `/v1/questions/${id}/reach`, body);
    await waitFor(async () => (await reach()).body.judged === people.length);
    expect((await reach()).body).toEqual({ judged: 4, reached: 4, withheld: {} });
    expect((await reach({ audience: pro })).body).toEqual({ judged: 4, reached: 1, withheld: { audience: 3 } });
    expect((await reach({}, shown.id)).body).toEqual({ judged: 4, reached: 0, withheld: { frequency: 4 } });
    const { body } = await reach({ sampling_percent: 0.01 });
    expect(body.reached + (body.withheld.sampling ?? 0)).toBe(4);
  });

  test('refuses rules that are not valid, and questions of other tenants', async () => {
    const [{ tenant }, other] = [await makeScene(), await makeScene()];
    const { id } = await publishQuestion(api, tenant);
    expectProblem(await other.ask('POST', `/v1/questions/${id}/reach`, {}), 404, 'resource-not-found');
    const own = await publishQuestion(api, other.tenant);
    expectProblem(await other.ask('POST', `/v1/questions/${own.id}/reach`, { audience: {} }), 422, 'validation-failed');
  });
});
