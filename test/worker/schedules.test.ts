import { afterAll, describe, expect, test } from 'vitest';
import { moveScheduledQuestions } from '../../src/storage/schedules.ts';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { anAnswer, answerTo, aQuestion, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';

const api = await createApi();
const worker = await createWorker(api);
afterAll(async () => {
  await worker.close();
  await api[Symbol.asyncDispose]();
});

const manage = (tenant: TestTenant, method: string, path: string, body?: object) =>
  api.request(method, `/v1/questions${path}`, { as: tenant.key.apiKey, ...(body ? { body } : {}) });

const recordsOf = (tenant: TestTenant) =>
  api.database.query<{ displays: number; last_value: unknown; answered_at: Date | null }>(
    'select displays, last_value, answered_at from card_records where tenant_id = $1',
    [tenant.uuid],
  );

describe('the status of a question with a schedule', () => {
  test('is live from its start and closed from its end, which the clock decided before', async () => {
    const tenant = await makeTenant(api);
    const schedule = { start_at: new Date(Date.now() + 60_000), end_at: new Date(Date.now() + 120_000) };
    const { id } = (await manage(tenant, 'POST', '', aQuestion({ schedule }))).body;
    expect((await manage(tenant, 'POST', `/${id}/publish`)).body.status).toBe('scheduled');
    const pass = () =>
      api.database.query(
        "update questions set start_at = start_at - interval '61 s', end_at = end_at - interval '61 s' where tenant_id = $1",
        [tenant.uuid],
      );
    const statusBecomes = (status: string) =>
      waitFor(async () => (await manage(tenant, 'GET', `/${id}`)).body.status === status);
    await pass();
    await statusBecomes('live');
    await pass();
    await statusBecomes('closed');
    const { body } = await manage(tenant, 'GET', `/${id}`);
    expect(body.closed_at).toBe(body.schedule.end_at);
  });

  test('of a question without a schedule stays, and a start that was removed has come', async () => {
    const tenant = await makeTenant(api);
    const plain = await publishQuestion(api, tenant);
    const { id } = (await manage(tenant, 'POST', '', aQuestion({ schedule: { start_at: '2099-01-01T00:00:00Z' } })))
      .body;
    await manage(tenant, 'POST', `/${id}/publish`);
    await moveScheduledQuestions(api.database.storage('parley_worker'));
    expect((await manage(tenant, 'GET', `/${id}`)).body.status).toBe('scheduled');
    await manage(tenant, 'PATCH', `/${id}`, { schedule: { start_at: null } });
    await waitFor(async () => (await manage(tenant, 'GET', `/${id}`)).body.status === 'live');
    expect((await manage(tenant, 'GET', `/${plain.id}`)).body.status).toBe('live');
  });
});

describe('a card record', () => {
  test('counts each view once, and max_displays hides the card after the last', async () => {
    const tenant = await makeTenant(api);
    await publishQuestion(api, tenant, { frequency: { max_displays: 2, snooze_after_dismiss_days: 0 } });
    const as = await tenant.sign('ada');
    const fetchCards = async () => (await api.request('GET', '/v1/cards', { as })).body.data;
    const [card] = await fetchCards();
    for (const view of [1, 2]) {
      const seen = answerTo(card, { state: 'seen', values: {} });
      const revised = { ...seen, revision: 2, state: 'dismissed' };
      await api.request('POST', '/v1/answers', { as, body: { answers: [seen] } });
      await api.request('POST', '/v1/answers', { as, body: { answers: [revised, seen] } });
      await waitFor(async () => (await recordsOf(tenant))[0]?.displays === view);
      if (view === 1) expect(await fetchCards()).toHaveLength(1);
    }
    await waitFor(async () => (await fetchCards()).length === 0);
  });

  test('keeps the value of the last answer for audiences, and no text', async () => {
    const tenant = await makeTenant(api);
    const nps = await publishQuestion(api, tenant);
    const text = await publishQuestion(api, tenant, { type: 'text' });
    const answered = { question: nps.id, op: 'lte', value: 6 };
    await publishQuestion(api, tenant, {
      title: 'Why?',
      frequency: { ignore_cooldown: true },
      audience: { all: [{ answered }] },
    });
    const as = await tenant.sign('ada');
    const titles = async () =>
      (await api.request('GET', '/v1/cards', { as })).body.data.map(
        (card: { steps: { title: string }[] }) => card.steps[0]?.title,
      );
    expect(await titles()).not.toContain('Why?');
    const send = (question_id: string, main: unknown) =>
      api.request('POST', '/v1/answers', {
        as: tenant.key.apiKey,
        body: { answers: [anAnswer({ identity: 'ada', question_id, values: { main } })] },
      });
    await send(nps.id, 3);
    await waitFor(async () => (await titles()).includes('Why?'));
    await send(text.id, 'A secret');
    await send(nps.id, 9);
    await waitFor(async () => !(await titles()).includes('Why?'));
    await waitFor(async () => (await recordsOf(tenant)).length === 2);
    expect((await recordsOf(tenant)).map(({ last_value }) => last_value).toSorted()).toEqual([9, null]);
    const [last] = await api.database.query<{ id: string }>(
      `select id from answers where tenant_id = $1 and "values"->'main' = '9'`,
      [tenant.uuid],
    );
    await api.request('DELETE', `/v1/answers/${last?.id}`, { as: tenant.key.apiKey });
    expect((await recordsOf(tenant)).map(({ last_value }) => last_value)).toEqual([null, null]);
  });
});
