import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCardIds } from '../../src/api/cache/card-ids.ts';
import { createCardLists, MAX_CARDS } from '../../src/api/cache/card-lists.ts';
import { createCatalog } from '../../src/api/cache/catalog.ts';
import { userName } from '../../src/api/caller.ts';
import { openNotices } from '../../src/coordination/notices.ts';
import { newUuid } from '../../src/domain/ids.ts';
import { createCaches } from '../../src/platform/caches.ts';
import { createLog } from '../../src/platform/log.ts';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { countingStorage } from '../support/counting-storage.ts';
import { answerTo, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';

const USERS = 50;
/** The statements that read a catalog: tenant, live questions, rules, earlier versions, deleted answers. */
const CATALOG_STATEMENTS = 5;
const RECORDS = 'from card_records';

const api = await createApi();
const worker = await createWorker(api);
const notices = openNotices(api.database.url, undefined, createLog('silent', 'test'));
beforeAll(() => waitFor(() => notices.isListening()));
afterAll(async () => {
  await Promise.all([worker.close(), notices.close()]);
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

/** Card lists of a process whose statements are counted. */
function openLists(tenant: TestTenant) {
  const { counting, count } = countingStorage(api.database.storage());
  const caches = createCaches();
  const catalog = createCatalog(counting, notices, caches);
  const lists = createCardLists(catalog, counting, notices, createCardIds(api.keychain, caches), caches);
  const now = new Date();
  const fetchCards = async (identity: string, limit = MAX_CARDS) => {
    const whose = { tenantId: tenant.uuid, identity, verified: true };
    const caller = { ...whose, user: userName(whose), kind: 'access-token' as const, keyId: '', expiresAt: new Date() };
    const { body, etag } = await lists.get(caller, limit, now);
    return { etag, cards: JSON.parse(body).data };
  };
  const fetchAll = async () => {
    const fetched = [];
    for (let user = 0; user < USERS; user++) fetched.push(await fetchCards(`user|${user}`));
    return fetched;
  };
  /** Runs a change, and returns the number of statements of the users' next fetches. */
  const countAfter = async (change: () => Promise<unknown>) => {
    await change();
    await receiveNotices();
    expect(catalog.cached(tenant.uuid)).toBeUndefined();
    const before = [count(), count(RECORDS)] as const;
    const fetched = await fetchAll();
    return { fetched, statements: count() - before[0], reads: count(RECORDS) - before[1] };
  };
  return { fetchCards, fetchAll, count, countAfter };
}

const manage = (tenant: TestTenant, method: string, path: string, body?: object) =>
  api.request(method, path, { as: tenant.key.apiKey, ...(body ? { body } : {}) });

const FREE = { frequency: { ignore_cooldown: true } };

/** A tenant with three live questions that all users see. */
async function makeBusyTenant() {
  const tenant = await makeTenant(api);
  const questions = [];
  for (const title of ['One', 'Zwei für dich', '三'])
    questions.push(await publishQuestion(api, tenant, { title, ...FREE }));
  await receiveNotices();
  return { tenant, questions };
}

describe('the users of a tenant fetch their cards without a statement', () => {
  test('with any limit, each a prefix of the whole list with its own tag', async () => {
    const { tenant } = await makeBusyTenant();
    const { fetchCards, count } = openLists(tenant);
    const whole = await fetchCards('ada');
    expect(whole.cards.map((card: { steps: { title: string }[] }) => card.steps[0]?.title)).toEqual([
      'One',
      'Zwei für dich',
      '三',
    ]);
    const first = count();
    const tags = new Set<string>();
    for (let round = 0; round < 5; round++)
      for (let limit = 1; limit <= MAX_CARDS; limit++) {
        const { cards, etag } = await fetchCards('ada', limit);
        expect(cards).toEqual(whole.cards.slice(0, limit));
        tags.add(etag);
      }
    expect(count()).toBe(first);
    expect(tags.size).toBe(3);
  });

  test('after a draft was saved, changed or deleted, and an answer was deleted', async () => {
    const { tenant } = await makeBusyTenant();
    const { fetchCards, fetchAll, countAfter } = openLists(tenant);
    const before = await fetchAll();
    let draft = { id: '' };
    const saves: (() => Promise<unknown>)[] = [
      async () => {
        draft = (await manage(tenant, 'POST', '/v1/questions', { type: 'nps', title: 'A draft', name: 'd' })).body;
      },
      () => manage(tenant, 'PATCH', `/v1/questions/${draft.id}`, { title: 'Another draft' }),
      () => manage(tenant, 'DELETE', `/v1/questions/${draft.id}`),
    ];
    for (const save of saves)
      expect(await countAfter(save)).toEqual({ fetched: before, statements: CATALOG_STATEMENTS, reads: 0 });

    const as = await tenant.sign('somebody else');
    const answer = answerTo((await fetchCards('somebody else')).cards[0]);
    await api.request('POST', '/v1/answers', { as, body: { answers: [answer] } });
    await waitFor(async () => (await api.request('GET', `/v1/answers/${answer.id}`, { as })).status === 200);
    expect(await countAfter(() => manage(tenant, 'DELETE', `/v1/answers/${answer.id}`))).toEqual({
      ...{ fetched: before, statements: CATALOG_STATEMENTS, reads: 0 },
    });
  });
});

describe('every list is decided again', () => {
  test.each<[string, (tenant: TestTenant, id: string) => Promise<unknown>]>([
    ['a text', (tenant, id) => manage(tenant, 'PATCH', `/v1/questions/${id}`, { title: 'Eins' })],
    ['a priority', (tenant, id) => manage(tenant, 'PATCH', `/v1/questions/${id}`, { priority: 5 })],
    [
      'a frequency',
      (tenant, id) => manage(tenant, 'PATCH', `/v1/questions/${id}`, { frequency: { repeat: 'always' } }),
    ],
    ['the public', (tenant, id) => manage(tenant, 'PATCH', `/v1/questions/${id}`, { allow_public: true })],
    ['the state', (tenant, id) => manage(tenant, 'POST', `/v1/questions/${id}/pause`)],
    [
      'the appearance',
      tenant => api.database.query(`update tenants set appearance = '{"theme": "dark"}' where id = $1`, [tenant.uuid]),
    ],
    [
      'the cooldown of the tenant',
      tenant => api.database.query('update tenants set cooldown_days = 3 where id = $1', [tenant.uuid]),
    ],
  ])('after a change of %s', async (_, change) => {
    const { tenant, questions } = await makeBusyTenant();
    const { fetchAll, countAfter } = openLists(tenant);
    await fetchAll();
    const { statements, reads, fetched } = await countAfter(() => change(tenant, questions[0]?.id as string));
    expect([statements, reads]).toEqual([CATALOG_STATEMENTS + USERS, USERS]);
    expect(fetched).toEqual(await openLists(tenant).fetchAll());
  });
});
