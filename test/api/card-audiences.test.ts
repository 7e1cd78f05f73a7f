import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCardIds } from '../../src/api/cache/card-ids.ts';
import { type CardRequest, createCardLists } from '../../src/api/cache/card-lists.ts';
import { createCatalog } from '../../src/api/cache/catalog.ts';
import { userName } from '../../src/api/caller.ts';
import { openNotices } from '../../src/coordination/notices.ts';
import { newUuid } from '../../src/domain/ids.ts';
import { createCaches } from '../../src/platform/caches.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createApi, waitFor } from '../support/api.ts';
import { countingStorage } from '../support/counting-storage.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';

const api = await createApi();
const notices = openNotices(api.database.url, undefined, createLog('silent', 'test'));
beforeAll(() => waitFor(() => notices.isListening()));
afterAll(async () => {
  await notices.close();
  await api[Symbol.asyncDispose]();
});

const announced = new Set<string>();
notices.onChange(({ id }) => announced.add(id));

/** Waits for the notices of all changes so far: PostgreSQL sends them in the order of the commits. */
async function receiveNotices(): Promise<void> {
  const id = newUuid();
  const marker = JSON.stringify({ table: 'questions', tenant_id: newUuid(), id });
  await api.database.query("select pg_notify('parley_changes', $1)", [marker]);
  await waitFor(() => announced.has(id));
}

/** The card lists of a process, whose statements are counted. */
function openLists(tenant: TestTenant) {
  const { counting, count } = countingStorage(api.database.storage());
  const metrics = createMetrics('test');
  const caches = createCaches(64, metrics);
  const catalog = createCatalog(counting, notices, caches);
  const lists = createCardLists(catalog, counting, notices, createCardIds(api.keychain, caches), caches);
  const fetchCards = async (identity: string, request: CardRequest = {}, now = new Date(), verified = true) => {
    const whose = { tenantId: tenant.uuid, identity, verified };
    const caller = { ...whose, user: userName(whose), kind: 'access-token' as const, keyId: '', expiresAt: new Date() };
    const { body, etag } = await lists.get(caller, 20, now, request);
    const titles = JSON.parse(body).data.map((card: { steps: { title: string }[] }) => card.steps[0]?.title);
    return { etag, titles: titles as string[] };
  };
  const decisions = () => Object.values(lists.withheld).reduce((sum, number) => sum + number, 0);
  const bytes = async () => /parley_cache_bytes\{cache="card_lists"\} (\d+)/.exec(await metrics.render())?.[1];
  return { fetchCards, count, decisions, lists, bytes };
}

/** A tenant with live questions that ignore the cooldown, by title. */
async function makeQuestions(questions: Record<string, Record<string, unknown>>) {
  const tenant = await makeTenant(api);
  for (const [title, fields] of Object.entries(questions))
    await publishQuestion(api, tenant, { title, frequency: { ignore_cooldown: true }, ...fields });
  await receiveNotices();
  return tenant;
}

const put = (tenant: TestTenant, identity: string, body: object) =>
  api.request('PUT', `/v1/identities/${identity}`, { as: tenant.key.apiKey, body });

describe('the cards of a person', () => {
  test('follow the attributes of the profile, at once after a change', async () => {
    const tenant = await makeQuestions({
      all: {},
      pro: { audience: { all: [{ attribute: 'plan', op: 'eq', value: 'pro' }] } },
      nobody: { audience: { all: [{ attribute: 'plan', op: 'eq', value: 'none' }] } },
    });
    const { fetchCards, lists } = openLists(tenant);
    expect((await fetchCards('ada')).titles).toEqual(['all']);
    await put(tenant, 'ada', { attributes: { plan: 'pro' } });
    await waitFor(async () => (await fetchCards('ada')).titles.length === 2);
    expect((await fetchCards('ada')).titles).toEqual(['all', 'pro']);
    expect(lists.withheld.audience).toBeGreaterThanOrEqual(3);
    const { body } = await api.request('GET', '/v1/cards', { as: await tenant.sign('ada') });
    expect(body.data).toHaveLength(2);
  });

  test('follow platform, version and language of the request, or else of the profile', async () => {
    const tenant = await makeQuestions({
      ios: { audience: { all: [{ platform: { op: 'eq', value: 'ios' } }] } },
      new: { audience: { all: [{ app_version: { op: 'gte', value: '2.0.0' } }] } },
      german: { audience: { all: [{ locale: { op: 'in', value: ['de'] } }] } },
    });
    await put(tenant, 'ada', { platform: 'ios', app_version: '2.1.0', locale: 'de-AT' });
    const { fetchCards } = openLists(tenant);
    expect((await fetchCards('ada')).titles).toEqual(['ios', 'new', 'german']);
    expect((await fetchCards('ada', { platform: 'web' })).titles).toEqual(['new', 'german']);
    expect((await fetchCards('ada', { app_version: '1.9' })).titles).toEqual(['ios', 'german']);
    expect((await fetchCards('ada', { locale: 'fr' })).titles).toEqual(['ios', 'new']);
    expect((await fetchCards('ada')).titles).toEqual(['ios', 'new', 'german']);
    const path = '/v1/cards?platform=ios&app_version=1.0.0&locale=de';
    const { body } = await api.request('GET', path, { as: await tenant.sign('grace') });
    expect(body.data).toHaveLength(2);
  });

  test('with a trigger are for clients that ask for them', async () => {
    const tenant = await makeQuestions({ plain: {}, paid: { trigger: { event: 'paid' } } });
    const { fetchCards } = openLists(tenant);
    for (const _ of [1, 2]) {
      expect((await fetchCards('ada')).titles).toEqual(['plain']);
      expect((await fetchCards('ada', { triggers: true })).titles).toEqual(['plain', 'paid']);
    }
  });

  test('appear and disappear at the times of the schedule, from a list that was cached before', async () => {
    const now = Date.now();
    const tenant = await makeQuestions({
      later: { schedule: { start_at: new Date(now + 20_000) } },
      ending: { schedule: { end_at: new Date(now + 40_000) } },
    });
    const { fetchCards, count } = openLists(tenant);
    const titlesAt = async (ms: number) => (await fetchCards('ada', {}, new Date(now + ms))).titles;
    expect(await titlesAt(0)).toEqual(['ending']);
    const before = count();
    expect(await titlesAt(19_999)).toEqual(['ending']);
    expect(count()).toBe(before);
    expect(await titlesAt(20_000)).toEqual(['later', 'ending']);
    expect(await titlesAt(39_999)).toEqual(['later', 'ending']);
    expect(await titlesAt(40_000)).toEqual(['later']);
  });

  test('of a claimed identity are those open to public tokens', async () => {
    const tenant = await makeQuestions({ closed: {}, open: { allow_public: true } });
    const { fetchCards, lists } = openLists(tenant);
    expect((await fetchCards('ada', {}, new Date(), false)).titles).toEqual(['open']);
    expect(lists.withheld.public).toBe(1);
  });
});

describe('a cached list', () => {
  test('answers requests that no live question distinguishes, without a statement or a decision', async () => {
    const tenant = await makeQuestions({
      german: { audience: { all: [{ locale: { op: 'eq', value: 'de' } }] } },
      pro: { audience: { all: [{ attribute: 'plan', op: 'eq', value: 'pro' }] } },
    });
    const { fetchCards, count, decisions, bytes } = openLists(tenant);
    const first = await fetchCards('ada', { locale: 'xx' });
    const size = await bytes();
    expect(Number(size)).toBeGreaterThan(0);
    const before = [count(), decisions()];
    for (let number = 0; number < 10_000; number++) {
      const context = { locale: `x${number}`, platform: `p${number}`, app_version: `1.${number}` };
      expect((await fetchCards('ada', context)).etag).toBe(first.etag);
    }
    expect([count(), decisions()]).toEqual(before);
    expect(await bytes()).toBe(size);
  });

  test('is one for each context that a live question distinguishes', async () => {
    const tenant = await makeQuestions({ german: { audience: { all: [{ locale: { op: 'eq', value: 'de' } }] } } });
    const { fetchCards, count } = openLists(tenant);
    const locales = ['de', 'fr', 'de-AT', 'it', 'de_CH'];
    const fetchAll = async () => {
      const titles = [];
      for (const locale of locales) titles.push((await fetchCards('ada', { locale })).titles);
      return titles;
    };
    const first = await fetchAll();
    expect(first).toEqual([['german'], [], ['german'], [], ['german']]);
    const before = count();
    expect(await fetchAll()).toEqual(first);
    expect(count()).toBe(before);
  });
});
