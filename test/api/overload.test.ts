import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOverload } from '../../src/api/http/overload.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createApi, type TestApi, type TestReply } from '../support/api.ts';
import { anAnswer, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';

let api: TestApi;
let tenant: TestTenant;
let questionId: string;
let tooMany: number;

beforeAll(async () => {
  api = await createApi();
  tenant = await makeTenant(api);
  questionId = (await publishQuestion(api, tenant)).id;
  tooMany = await countTooMany();
  await all(tooMany, () => api.request('GET', '/livez')); // opens the connections
});
afterAll(() => api[Symbol.asyncDispose]());

function all<T>(count: number, start: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, start));
}

/** Concurrent requests with this number of answers each, generated before the first is sent. A hundred make them slow. */
const sendMany = (count: number, answers = 100): Promise<TestReply[]> => {
  const aBody = () => ({
    answers: Array.from({ length: answers }, (_, index) =>
      anAnswer({ question_id: questionId, identity: `u${index}` }),
    ),
  });
  const bodies = Array.from({ length: count }, aBody);
  return Promise.all(bodies.map(body => api.request('POST', '/v1/answers', { as: tenant.key.apiKey, body })));
};

/** Enough requests to keep this machine busy for six times the maximum wait, and at least a thousand. */
async function countTooMany(): Promise<number> {
  await sendMany(64);
  const startedAt = performance.now();
  await sendMany(64);
  return Math.max(1000, Math.ceil((64 * 3000) / (performance.now() - startedAt)));
}

describe('more concurrent requests than the capacity', () => {
  test('are partly rejected with 503 and Retry-After, and accepted ones are processed completely', async () => {
    const replies = await sendMany(tooMany);
    const taken = replies.filter(({ status }) => status === 202);
    const refused = replies.filter(({ status }) => status !== 202);
    expect(taken.length).toBeGreaterThan(0); // how many depends on the machine
    expect(refused.length).toBeGreaterThan(0);
    for (const { status, body, headers } of refused) {
      expect(status).toBe(503);
      expect(['service-overloaded', 'queue-unavailable']).toContain(body.code);
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    expect(refused.some(({ body }) => body.code === 'service-overloaded')).toBe(true);
    for (const { body } of taken) expect(body.results).toHaveLength(100);
    const { values } = await api.metrics.requestsShed.get();
    expect(values[0]?.value).toBe(refused.length);
  });

  test('are all processed again after the overload', async () => {
    expect((await sendMany(1))[0]?.status).toBe(202);
  });

  test('never block a probe', async () => {
    const [replies, probes] = await Promise.all([sendMany(tooMany), all(50, () => api.request('GET', '/livez'))]);
    expect(replies.some(({ status }) => status === 503)).toBe(true);
    expect(probes.map(({ status }) => status)).toEqual(Array(50).fill(200));
  });

  test('are all accepted at 64 connections', async () => {
    const replies = await sendMany(64, 10); // a hundred are too many for a slow machine
    expect(replies.map(({ status }) => status)).toEqual(Array(64).fill(202));
  });
});

test('requests that arrive together start together, and so do later ones until 32 wait', async () => {
  const overload = createOverload(createMetrics('serve'));
  let arrived = 0;
  const arrivedBefore: number[] = [];
  const arrivals = Array.from({ length: 40 }, async (_, number) => {
    for (let look = 0; look < number; look++) await new Promise(setImmediate);
    arrived++;
    await overload.admit(true);
    arrivedBefore.push(arrived);
  });
  await Promise.all(arrivals);
  expect(Math.min(...arrivedBefore)).toBeGreaterThanOrEqual(32);
  expect(arrivedBefore.filter(before => before < 40).length).toBeGreaterThanOrEqual(30);
});
