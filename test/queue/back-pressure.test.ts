import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withClient } from '../../src/platform/postgres-client.ts';
import { createApi, type TestApi, type TestReply, waitFor } from '../support/api.ts';
import { anAnswer, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';

/** The least setting. */
const MAX_JOBS = 100;

let api: TestApi;
let tenant: TestTenant;
let questionId: string;
beforeAll(async () => {
  api = await createApi({ settings: { QUEUE_MAX_JOBS: String(MAX_JOBS) } });
  tenant = await makeTenant(api);
  questionId = (await publishQuestion(api, tenant)).id;
});
afterAll(() => api[Symbol.asyncDispose]());

function send(): Promise<TestReply> {
  const answers = [anAnswer({ question_id: questionId, identity: 'ada' })];
  return api.request('POST', '/v1/answers', { as: tenant.key.apiKey, body: { answers } });
}

const shed = async () => (await api.metrics.requestsShed.get()).values.reduce((sum, { value }) => sum + value, 0);

describe('answers', () => {
  test('are refused while they arrive faster than the queue writes them', async () => {
    const sent: Promise<TestReply>[] = [];
    await withClient(api.database.url, async client => {
      await client.query('begin; lock table bullmq.job in share mode'); // writes wait, reads do not
      await waitFor(
        async () => {
          sent.push(send());
          return (await shed()) > 0;
        },
        5000,
        50,
      );
      await client.query('rollback');
    });
    const refused = (await Promise.all(sent)).filter(({ status }) => status === 503);
    for (const { headers, body } of refused)
      expect([body.code, headers.has('Retry-After')]).toEqual(['queue-unavailable', true]);
    expect(refused.map(({ body }) => body.detail)).toContain(
      'Answers arrive faster than the queue can write them to disk.',
    );
    await waitFor(async () => (await send()).status === 202);
  });

  test('are refused while QUEUE_MAX_JOBS wait, and accepted again afterwards', async () => {
    const refused = await waitFor(async () => {
      const reply = await send();
      return reply.status !== 202 && reply;
    });
    expect([refused.status, refused.body.code]).toEqual([503, 'queue-unavailable']);
    expect(Number(/(\d+) jobs are waiting/.exec(refused.body.detail)?.[1])).toBeGreaterThanOrEqual(MAX_JOBS);
    await api.database.query('delete from bullmq.job');
    await waitFor(async () => (await send()).status === 202);
  });
});
