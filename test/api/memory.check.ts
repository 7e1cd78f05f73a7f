import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCardIds } from '../../src/api/cache/card-ids.ts';
import { createCardLists } from '../../src/api/cache/card-lists.ts';
import { createCatalog, type TenantCatalog } from '../../src/api/cache/catalog.ts';
import { userName } from '../../src/api/caller.ts';
import { createKeyRing, type RingKey } from '../../src/api/credentials/key-ring.ts';
import { createTokenVerifier } from '../../src/api/credentials/token-verifier.ts';
import { openNotices } from '../../src/coordination/notices.ts';
import { newUuid } from '../../src/domain/ids.ts';
import { createCaches } from '../../src/platform/caches.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createSeals } from '../../src/platform/secrets.ts';
import type { Storage } from '../../src/storage/database/orm.ts';
import { requestTo, waitFor } from '../support/api.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { makeKeychain, newSecretKey } from '../support/keychain.ts';
import { answerTo, makeTenant, type TestTenant, uuidOfKey } from '../support/make.ts';
import { collectAfterTurn } from '../support/memory.ts';
import { startProcess } from '../support/process.ts';
import { forgeToken, goodClaims } from '../support/tokens.ts';

const log = createLog('silent', 'test');
const secretKey = newSecretKey();
const keychain = makeKeychain(secretKey);
const seals = createSeals({ current: secretKey, others: [] });
const MINUTE_MS = 60_000;
let database: TestDatabase;
let storage: Storage;
let notices: ReturnType<typeof openNotices>;

beforeAll(async () => {
  database = await createDatabase();
  storage = database.storage();
  notices = openNotices(database.url, undefined, log);
  await waitFor(() => notices.isListening());
});
afterAll(async () => {
  await notices.close();
  await database[Symbol.asyncDispose]();
});

/** Live questions that ignore the cooldown, with 30 options of this length each. */
const addQuestions = (tenantId: string, questions: number, optionLength: number) =>
  database.query(
    `insert into questions
     select $1, gen_random_uuid(), 'A question', 'live', 1, 'single_choice', 'How?', '',
       jsonb_build_object('allow_other', false, 'shuffle', false, 'options', (
         select jsonb_agg(jsonb_build_object('id', o::text, 'label', repeat('☕', $3::int))) from generate_series(1, 30) o)),
       '{"repeat": "always", "snooze_after_dismiss_days": 0, "ignore_cooldown": true}', true, 0, now(), now(), now(), null
     from generate_series(1, $2::int)`,
    [tenantId, questions, optionLength],
  );

const aCaller = (tenantId: string, identity: string) => {
  const whose = { tenantId, identity, verified: true };
  return { ...whose, user: userName(whose), kind: 'access-token' as const, keyId: '', expiresAt: new Date() };
};

const countAlive = (refs: WeakRef<object>[]): number => refs.filter(ref => ref.deref() !== undefined).length;

test('a replaced catalog is garbage collected, whoever fetched cards meanwhile', async () => {
  const tenantId = (await makeTenant({ database, seals })).uuid;
  await addQuestions(tenantId, 3, 10);
  const caches = createCaches();
  const start = new Date();
  let at = start.getTime();
  const catalog = createCatalog(storage, notices, caches, () => at);
  const deck = createCardLists(catalog, storage, notices, createCardIds(keychain, caches), caches);
  const refs: WeakRef<TenantCatalog>[] = [];
  for (let minute = 0; minute < 60; minute++, at += MINUTE_MS + 1) {
    refs.push(new WeakRef(await catalog.of(tenantId)));
    // The deck's clock stands still, so that all lists stay in the cache.
    const list = await deck.get(aCaller(tenantId, `user|${minute}`), 20, start);
    expect(JSON.parse(list.body).data).toHaveLength(3);
  }
  await collectAfterTurn();
  expect(new Set(refs.map(ref => ref.deref())).size).toBeLessThanOrEqual(3); // the last one, its predecessor, and `undefined`
  expect(countAlive(refs)).toBeLessThanOrEqual(2);
});

test('an expired card list makes space for new ones', async () => {
  const tenantId = (await makeTenant({ database, seals })).uuid;
  await addQuestions(tenantId, 1, 10);
  const metrics = createMetrics('serve');
  const caches = createCaches(64, metrics);
  const catalog = createCatalog(storage, notices, caches);
  const deck = createCardLists(catalog, storage, notices, createCardIds(keychain, caches), caches);
  const entries = async () => {
    await metrics.render();
    return (await metrics.cacheEntries.get()).values.find(({ labels }) => labels.cache === 'card_lists')?.value;
  };
  const start = Date.now();
  const fetchAt = (identity: string, at: number) => deck.get(aCaller(tenantId, identity), 20, new Date(at));
  for (let user = 0; user < 100; user++) await fetchAt(`early|${user}`, start);
  expect(await entries()).toBe(100);
  for (let user = 0; user < 100; user++) await fetchAt(`late|${user}`, start + 2 * MINUTE_MS);
  expect(await entries()).toBe(100);
});

test('a replaced key is garbage collected, whichever tokens it verified', async () => {
  const tenant: TestTenant = await makeTenant({ database, seals });
  const caches = createCaches();
  const ring = createKeyRing({ storage, notices, keychain, log, caches });
  const tokens = createTokenVerifier(ring, caches);
  const id = uuidOfKey(tenant.key);
  const refs: WeakRef<RingKey>[] = [];
  for (let change = 0; change < 20; change++) {
    const token = forgeToken(tenant, { payload: { ...goodClaims(tenant), grants: { identity: `user|${change}` } } });
    await waitFor(async () => {
      await tokens.verify(token, new Date());
      return tokens.remembered(token, new Date()); // unless a notice, such as that of the new key, arrived in between
    });
    refs.push(new WeakRef(ring.cached(id) as RingKey));
    await database.query('update api_keys set name = $2 where id = $1', [id, `name ${change}`]);
    await waitFor(() => ring.cached(id) === undefined);
    expect(tokens.remembered(token, new Date())).toBeUndefined();
  }
  await collectAfterTurn();
  expect(countAlive(refs)).toBeLessThanOrEqual(1);
  await ring.close();
});

describe('full caches with more data to load', () => {
  test('keep what fits, and still serve a card list or catalog larger than its share', async () => {
    const [large, small] = [newUuid(), newUuid()];
    await addQuestions(large, 200, 3000);
    await addQuestions(small, 1, 10);
    const metrics = createMetrics('serve');
    const caches = createCaches(16, metrics);
    const catalog = createCatalog(storage, notices, caches);
    const deck = createCardLists(catalog, storage, notices, createCardIds(keychain, caches), caches);
    for (let time = 0; time < 2; time++) {
      const { body } = await deck.get(aCaller(large, 'user|1'), 20, new Date());
      expect(Buffer.byteLength(body)).toBeGreaterThan(caches.limitOf('card_lists') / 2);
      expect((await catalog.of(large)).bytes).toBeGreaterThan(caches.limitOf('catalogs'));
      expect(catalog.cached(large)).toBeDefined();
      expect(JSON.parse((await deck.get(aCaller(small, 'user|1'), 20, new Date())).body).data).toHaveLength(1);
    }
    await metrics.render();
    const limits = (await metrics.cacheLimit.get()).values;
    for (const { labels, value } of (await metrics.cacheBytes.get()).values)
      expect(value).toBeLessThanOrEqual(limits.find(limit => limit.labels.cache === labels.cache)?.value as number);
    expect(limits.reduce((sum, { value }) => sum + value, 0)).toBeLessThanOrEqual(16 * 1024 * 1024);
  });

  test('keep a process with a small heap alive: 500 card fetches of a tenant with large questions', async () => {
    const tenant = await makeTenant({ database, seals });
    await addQuestions(tenant.uuid, 20, 200);
    const environment = { DATABASE_URL: database.url, SECRET_KEY: secretKey };
    await using api = await startProcess('serve', environment, ['--max-old-space-size=110']);
    await api.awaitProbe('/readyz');
    const fetchCards = async (user: number): Promise<void> => {
      const token = await tenant.sign(`user|${user}`);
      const response = await fetch(`${api.baseUrl}/v1/cards`, { headers: { Authorization: `Bearer ${token}` } });
      expect(response.status).toBe(200);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(350_000);
    };
    for (let user = 0; user < 500; user += 4)
      await Promise.all([user, user + 1, user + 2, user + 3].map(number => fetchCards(number)));
    expect(api.isRunning()).toBe(true);
  }, 300_000);

  test('keep a process with a small heap alive: 15,000 large versions of one question', async () => {
    const tenant = await makeTenant({ database, seals });
    await addQuestions(tenant.uuid, 1, 200);
    await database.query(
      `insert into question_versions select tenant_id, id, n, type, title || n, description, config, now()
       from questions, generate_series(1, 15000) as n where tenant_id = $1`,
      [tenant.uuid],
    );
    await database.query('update questions set version = 15000 where tenant_id = $1', [tenant.uuid]);
    const environment = { DATABASE_URL: database.url, SECRET_KEY: secretKey };
    await using api = await startProcess('serve', environment, ['--max-old-space-size=128']);
    await api.awaitProbe('/readyz');
    const request = requestTo(api.baseUrl);
    const token = await tenant.sign('user|1');
    const cards = await request('GET', '/v1/cards', { as: token });
    expect(cards.status).toBe(200);
    const [card] = cards.body.data;
    expect(card.question_version).toBe(15_000);
    const answers = [1, 7000, 14_999, 15_000, 15_001].map(question_version =>
      answerTo(card, { question_version, values: { main: { option_id: '7' } } }),
    );
    const sent = await request('POST', '/v1/answers', { as: token, body: { answers } });
    expect(
      sent.body.results.map((receipt: { status: string; code?: string }) => receipt.code ?? receipt.status),
    ).toEqual([...Array.from({ length: 4 }, () => 'accepted'), 'unknown-version']);
  }, 300_000);
});
