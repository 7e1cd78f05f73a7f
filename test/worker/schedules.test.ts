import { afterAll, describe, expect, test } from 'vitest';
import { moveScheduledQuestions } from '../../src/storage/questions/schedules.ts';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { aQuestion, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';

const api = await createApi();
const worker = await createWorker(api);
afterAll(async () => {
  await worker.close();
  await api[Symbol.asyncDispose]();
});

const manage = (tenant: TestTenant, method: string, path: string, body?: object) =>
  api.request(method, `/v1/questions${path}`, { as: tenant.key.apiKey, ...(body ? { body } : {}) });

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
    await moveScheduledQuestions(api.database.storage('parley_worker'), tenant.uuid);
    expect((await manage(tenant, 'GET', `/${id}`)).body.status).toBe('scheduled');
    await manage(tenant, 'PATCH', `/${id}`, { schedule: { start_at: null } });
    await waitFor(async () => (await manage(tenant, 'GET', `/${id}`)).body.status === 'live');
    expect((await manage(tenant, 'GET', `/${plain.id}`)).body.status).toBe('live');
  });
});
