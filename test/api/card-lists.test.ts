import { afterAll, describe, expect, test } from 'vitest';
import { createCardIds } from '../../src/api/cache/card-ids.ts';
import { createCardLists, MAX_CARDS } from '../../src/api/cache/card-lists.ts';
import { createCatalog } from '../../src/api/cache/catalog.ts';
import { userName } from '../../src/api/caller.ts';
import type { Notices } from '../../src/coordination/notices.ts';
import { parseTypeId } from '../../src/domain/ids.ts';
import { createCaches } from '../../src/platform/caches.ts';
import { withClient } from '../../src/platform/postgres-client.ts';
import { createApi, createWorker, type TestApi, waitFor } from '../support/api.ts';
import { answerTo, claimToken, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';

const api = await createApi();
const second = await createApi({ sharing: api });
const worker = await createWorker(api);
afterAll(async () => {
  await Promise.all([worker.close(), second.close()]);
  await api[Symbol.asyncDispose]();
});

const fetchCards = (from: TestApi, token: string, etag?: string) =>
  from.request('GET', '/v1/cards', { as: token, headers: etag ? { 'If-None-Match': etag } : {} });

/** Returns false for a deadlock, and throws every other error. */
function noDeadlock(error: { code?: string }): false {
  if (error.code !== '40P01') throw error;
  return false;
}

/** Blocks every read from the tables while `work` runs. */
const withoutTables = <T>(work: () => Promise<T>): Promise<T> =>
  withClient(api.database.url, async client => {
    const { rows } = await client.query("select tablename from pg_tables where schemaname = 'public'");
    const lock = `lock table ${rows.map(({ tablename }) => tablename).join(', ')} in access exclusive mode`;
    await client.query('begin');
    // a transaction that ends in the background, such as a heartbeat, may lock tables in another order
    while (!(await client.query(lock).then(() => true, noDeadlock))) await client.query('rollback; begin');
    return work();
  });

/** A user who has fetched the only card from both processes. */
async function seenEverywhere(tenant: TestTenant, identity: string) {
  const token = await tenant.sign(identity);
  const replies = await waitFor(async () => {
    const both = await Promise.all([fetchCards(api, token), fetchCards(second, token)]);
    return both.every(({ body }) => body.data.length === 1) && both;
  });
  return { token, etag: replies[0].headers.get('etag') as string, card: replies[0].body.data[0] };
}

test('the first returned card is recorded, once and only for its tenant', async () => {
  const [tenant, other] = [await makeTenant(api), await makeTenant(api)];
  const firstCardAt = async ({ key }: TestTenant) =>
    (await api.request('GET', '/v1/ingestion', { as: key.apiKey })).body.first_card_at;
  expect((await fetchCards(api, await tenant.sign('user|1'))).body.data).toEqual([]);
  expect(await firstCardAt(tenant)).toBeNull();
  await publishQuestion(api, tenant);
  await seenEverywhere(tenant, 'user|1');
  const noted = await firstCardAt(tenant);
  expect(Math.abs(Date.now() - Date.parse(noted))).toBeLessThan(60_000);
  await seenEverywhere(tenant, 'user|2');
  expect(await firstCardAt(tenant)).toBe(noted);
  expect(await firstCardAt(other)).toBeNull();
});

describe('an unchanged card list', () => {
  test('needs no query, neither as 200 nor as 304, in any process', async () => {
    const tenant = await makeTenant(api);
    await publishQuestion(api, tenant);
    const { token, etag, card } = await seenEverywhere(tenant, 'user|1');
    await withoutTables(async () => {
      for (const process of [api, second]) {
        const again = await fetchCards(process, token);
        expect([again.status, again.headers.get('etag'), again.body.data]).toEqual([200, etag, [card]]);
        const unchanged = await fetchCards(process, token, etag);
        expect([unchanged.status, unchanged.body]).toEqual([304, '']);
      }
    });
  });

  test('is separate for each user, tenant, and unverified user of the same name', async () => {
    const [one, two] = [await makeTenant(api), await makeTenant(api)];
    await publishQuestion(api, one, { allow_public: false });
    await publishQuestion(api, two);
    const { card } = await seenEverywhere(one, 'user|1');
    const others = [await seenEverywhere(one, 'user|2'), await seenEverywhere(two, 'user|1')];
    expect(new Set([card.id, ...others.map(other => other.card.id)]).size).toBe(3);
    expect((await fetchCards(api, await claimToken(api, one, 'user|1'))).body.data).toEqual([]);
  });
});

test('a card list is read again by a process that does not receive changes', async () => {
  const tenant = await makeTenant(api);
  const question = await publishQuestion(api, tenant);
  let isListening = true;
  const ignore = () => undefined;
  const silent: Notices = {
    ...{ onChange: ignore, onRecords: ignore, onGap: ignore, unconfirmedMs: () => 0, close: async () => undefined },
    isListening: () => isListening,
  };
  const [storage, caches] = [api.database.storage(), createCaches()];
  const catalog = createCatalog(storage, silent, caches);
  const lists = createCardLists(catalog, storage, silent, createCardIds(api.keychain, caches), caches);
  const whose = { tenantId: tenant.uuid, identity: 'ada', verified: true };
  const caller = { ...whose, user: userName(whose), kind: 'access-token' as const, keyId: '', expiresAt: new Date() };
  const now = new Date();
  const countCards = async () => JSON.parse((await lists.get(caller, MAX_CARDS, now)).body).data.length;
  expect(await countCards()).toBe(1);
  await api.database.query(
    `insert into card_records (tenant_id, identity, identity_verified, question_id, shown_at, answered_at)
     values ($1, 'ada', true, $2, now(), now())`,
    [tenant.uuid, parseTypeId('question', question.id)],
  );
  expect(await countCards()).toBe(1); // from memory: the change would have been announced
  isListening = false;
  expect(await countCards()).toBe(0);
});

describe('a card list changes in every process', () => {
  test('when an answer is stored, only for this user', async () => {
    const tenant = await makeTenant(api);
    await publishQuestion(api, tenant);
    const [one, other] = [await seenEverywhere(tenant, 'user|1'), await seenEverywhere(tenant, 'user|2')];
    await api.request('POST', '/v1/answers', { as: one.token, body: { answers: [answerTo(one.card)] } });
    for (const process of [api, second])
      await waitFor(async () => (await fetchCards(process, one.token, one.etag)).body.data?.length === 0);
    for (const process of [api, second]) expect((await fetchCards(process, other.token, other.etag)).status).toBe(304);
  });

  test('when the question is edited and published again, paused, or resumed', async () => {
    const tenant = await makeTenant(api);
    const question = await publishQuestion(api, tenant);
    const { token, etag } = await seenEverywhere(tenant, 'user|1');
    const manage = (path: string) =>
      api.request('POST', `/v1/questions/${question.id}/${path}`, { as: tenant.key.apiKey });
    const becomes = async (count: number) => {
      for (const process of [api, second])
        await waitFor(async () => (await fetchCards(process, token)).body.data.length === count);
    };
    await manage('pause');
    await becomes(0);
    await manage('resume');
    await becomes(1);
    expect((await fetchCards(second, token, etag)).status).toBe(304);
  });

  test('when records are changed directly in the database', async () => {
    const tenant = await makeTenant(api);
    await publishQuestion(api, tenant);
    const { token, card } = await seenEverywhere(tenant, 'user|1');
    await api.request('POST', '/v1/answers', { as: token, body: { answers: [answerTo(card)] } });
    await waitFor(async () => (await fetchCards(api, token)).body.data.length === 0);
    await api.database.query('delete from card_records where tenant_id = $1', [tenant.uuid]);
    await seenEverywhere(tenant, 'user|1');
  });

  test('for each of 2,000 users whose answers are stored in one statement', async () => {
    const tenant = await makeTenant(api);
    const question = await publishQuestion(api, tenant);
    const first = await seenEverywhere(tenant, 'user|0');
    const last = await seenEverywhere(tenant, 'user|1999');
    await api.database.query(
      `insert into card_records (tenant_id, identity, identity_verified, question_id, shown_at, answered_at)
       select $1, 'user|' || n, true, $2, now(), now() from generate_series(0, 1999) as n`,
      [tenant.uuid, parseTypeId('question', question.id)],
    );
    for (const { token } of [first, last])
      for (const process of [api, second])
        await waitFor(async () => (await fetchCards(process, token)).body.data.length === 0);
  });
});
