import { afterAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi, waitFor } from '../support/api.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { createProxy } from '../support/proxy.ts';

const api = await createApi();
const second = await createApi({ sharing: api });
afterAll(async () => {
  await second.close();
  await api[Symbol.asyncDispose]();
});

const frequency = { ignore_cooldown: true };
const forPlan = (plan: string) => ({
  ...{ title: plan, frequency, audience: { all: [{ attribute: 'plan', op: 'eq', value: plan }] } },
});

/** A tenant with a question for each plan, and a person with one. */
async function makeScene() {
  const tenant = await makeTenant(api);
  for (const plan of ['pro', 'free']) await publishQuestion(api, tenant, forPlan(plan));
  await setPlan(tenant, 'pro');
  return { tenant, token: await tenant.sign('ada') };
}

const setPlan = (tenant: TestTenant, plan: string) =>
  api.request('PUT', '/v1/identities/ada', { as: tenant.key.apiKey, body: { attributes: { plan } } });

const fetchTitles = async (from: TestApi, as: string): Promise<string> => {
  const { status, body } = await from.request('GET', '/v1/cards', { as });
  if (status !== 200) return String(status);
  return body.data.map((card: { steps: { title: string }[] }) => card.steps[0]?.title).join();
};

/** Much less than the minute after which a process reads everything again. */
const NOTICED_WITHIN_MS = 10_000;

describe('an attribute that a server changes', () => {
  test('decides on the next fetch in every process', async () => {
    const { tenant, token } = await makeScene();
    for (const plan of ['pro', 'free', 'pro']) {
      await setPlan(tenant, plan);
      for (const process of [api, second])
        await waitFor(async () => (await fetchTitles(process, token)) === plan, NOTICED_WITHIN_MS);
    }
  });
});

describe('while PostgreSQL is away', () => {
  test('cards of an audience are the previous ones or 503, and follow the attributes again afterwards', async () => {
    await using proxy = await createProxy(api.database.url);
    const through = { ...api, database: { ...api.database, url: proxy.through(api.database.url) } };
    const apart = await createApi({ sharing: through });
    try {
      const { tenant, token } = await makeScene();
      const stranger = await tenant.sign('grace');
      await waitFor(async () => (await fetchTitles(apart, token)) === 'pro');
      proxy.cut();
      await setPlan(tenant, 'free');
      const replies = new Set<string>();
      for (let fetched = 0; fetched < 50; fetched++) replies.add(await fetchTitles(apart, token));
      expect([...replies].filter(reply => reply !== 'pro' && reply !== '503')).toEqual([]);
      expect(await fetchTitles(apart, stranger)).toBe('503');
      proxy.mend();
      await waitFor(async () => (await fetchTitles(apart, token)) === 'free');
    } finally {
      await apart.close();
    }
  });
});
