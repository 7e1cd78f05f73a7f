import { hash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCardIds } from '../../src/api/cache/card-ids.ts';
import { createCardLists } from '../../src/api/cache/card-lists.ts';
import { createCatalog } from '../../src/api/cache/catalog.ts';
import { createSyncMemory } from '../../src/api/cache/sync-memory.ts';
import { createVersionLookup } from '../../src/api/cache/version-lookup.ts';
import { userName } from '../../src/api/caller.ts';
import { createKeyRing } from '../../src/api/credentials/key-ring.ts';
import { createTokenVerifier } from '../../src/api/credentials/token-verifier.ts';
import { openNotices } from '../../src/coordination/notices.ts';
import { newUuid, parsedIds, parseTypeId, toTypeId } from '../../src/domain/ids.ts';
import { answerRules } from '../../src/domain/questions/questions.ts';
import { type CacheName, type Caches, createCaches } from '../../src/platform/caches.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createSeals } from '../../src/platform/secrets.ts';
import type { Storage } from '../../src/storage/database/orm.ts';
import { waitFor } from '../support/api.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { makeKeychain, newSecretKey } from '../support/keychain.ts';
import { anAcceptedAnswer, makeTenant, type TestTenant, uuidOfKey } from '../support/make.ts';
import { collectAfterTurn } from '../support/memory.ts';
import { forgeToken, goodClaims } from '../support/tokens.ts';

/** The allowed ratio of estimate to heap growth. */
const [LEAST, MOST] = [0.8, 1.25];

const log = createLog('silent', 'test');
const secretKey = newSecretKey();
const keychain = makeKeychain(secretKey);
const seals = createSeals({ current: secretKey, others: [] });
let database: TestDatabase;
let storage: Storage;
let notices: ReturnType<typeof openNotices>;
let tenant: TestTenant;

beforeAll(async () => {
  database = await createDatabase();
  storage = database.storage();
  notices = openNotices(database.url, undefined, log);
  await waitFor(() => notices.isListening());
  tenant = await makeTenant({ database, seals });
  await database.query(ADD_QUESTIONS, [[tenant.uuid], 20]);
});
afterAll(async () => {
  await notices.close();
  await database[Symbol.asyncDispose]();
});

/** Live questions with five options and 12 versions each. */
const ADD_QUESTIONS = `
with added as (
  insert into questions
  select tenant, gen_random_uuid(), 'A question', 'live', 12, 'single_choice', repeat('How do you like it? ', 5), repeat('d', 100),
    jsonb_build_object('allow_other', false, 'shuffle', false, 'options',
      (select jsonb_agg(jsonb_build_object('id', 'option-' || o, 'label', 'The option ' || o)) from generate_series(1, 5) o)),
    '{"repeat": "always", "snooze_after_dismiss_days": 0, "ignore_cooldown": true}', true, 0, now(), now(), now(), null
  from unnest($1::uuid[]) as tenant, generate_series(1, $2::int) returning *
)
insert into question_versions select tenant_id, id, n, type, title, description, config || jsonb_build_object('min', n), now()
from added, generate_series(1, 12) as n`;

/** Caches large enough for every entry of a test, and the bytes that they report. */
function openCaches() {
  const metrics = createMetrics('serve');
  const caches = createCaches(1000, metrics);
  const bytesOf = async (cache: CacheName): Promise<number> => {
    await metrics.render();
    return (await metrics.cacheBytes.get()).values.find(({ labels }) => labels.cache === cache)?.value ?? 0;
  };
  return { caches, bytesOf };
}

/** Fills a cache and compares the bytes that it reports with the growth of the heap. */
async function expectAccurate(name: CacheName, fill: (caches: Caches) => Promise<unknown>): Promise<void> {
  const { caches, bytesOf } = openCaches();
  const before = await collectAfterTurn();
  const kept = await fill(caches);
  const heap = (await collectAfterTurn()) - before;
  const factor = (await bytesOf(name)) / heap;
  console.info(`${name}: estimated / heap = ${factor.toFixed(2)} of ${(heap / 1e6).toFixed(1)} MB`);
  expect(kept).toBeDefined();
  expect(heap).toBeGreaterThan(500_000);
  expect(factor).toBeGreaterThan(LEAST);
  expect(factor).toBeLessThan(MOST);
}

const count = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));

/** A new string in the heap, as from a request. */
const fresh = (text: string): string => Buffer.from(text).toString();

const owner = (index: number) => {
  const whose = { tenantId: tenant.uuid, identity: `user|${index}`, verified: true };
  return { ...whose, user: userName(whose) };
};

const tokenOf = (identity: string) =>
  fresh(`Bearer ${forgeToken(tenant, { payload: { ...goodClaims(tenant), grants: { identity } } })}`).slice(7);

test('verified tokens use the estimated memory', async () => {
  const ring = createKeyRing({ storage, notices, keychain, log, caches: createCaches() });
  await ring.find(uuidOfKey(tenant.key));
  await expectAccurate('tokens', async caches => {
    const verifier = createTokenVerifier(ring, caches);
    for (let number = 0; number < 5000; number++) await verifier.verify(tokenOf(`user|${number}`), new Date());
    return verifier;
  });
  await ring.close();
});

test('keys use the estimated memory', async () => {
  const keys: string[] = [];
  for (let number = 0; number < 500; number++) keys.push(await storeKey());
  await expectAccurate('keys', async caches => {
    const ring = createKeyRing({ storage, notices, keychain, log, caches });
    for (const id of keys) await ring.find(id);
    await ring.close();
    return ring;
  });
});

/** A key of a new tenant, because a tenant may have only fifty. */
async function storeKey(): Promise<string> {
  const { key } = await makeTenant({ database: { storage: () => storage }, seals });
  return uuidOfKey(key);
}

test('ids without a key use the estimated memory', async () => {
  await expectAccurate('unknown_keys', async caches => {
    const ring = createKeyRing({ storage, notices, keychain, log, caches });
    for (let number = 0; number < 12_000; number++) await ring.find(newUuid());
    await ring.close();
    return ring;
  });
});

test.each([
  ['of one question', 1, 5000],
  ['of twenty', 20, 2000],
])('card lists use the estimated memory, %s', async (_, questions, users) => {
  const one = await makeTenant({ database, seals });
  await database.query(ADD_QUESTIONS, [[one.uuid], questions]);
  const catalog = createCatalog(storage, notices, createCaches());
  await catalog.of(one.uuid);
  await expectAccurate('card_lists', async caches => {
    const deck = createCardLists(catalog, storage, notices, createCardIds(keychain, createCaches(1)), caches);
    for (let number = 0; number < users; number++) {
      const caller = { ...owner(number), tenantId: one.uuid, kind: 'access-token' as const };
      await deck.get({ ...caller, keyId: '', expiresAt: new Date() }, 20, new Date());
    }
    return deck;
  });
});

/** Gives each question an audience of 20 conditions with this operator and value, as SQL. */
const addAudiences = (ids: string[], condition: string) =>
  database.query(
    `update questions set audience = jsonb_build_object('all', (
       select jsonb_agg(jsonb_build_object('attribute', 'fact_' || n, 'op', ${condition})) from generate_series(1, 20) as n))
     where tenant_id = any($1::uuid[])`,
    [ids],
  );

test.each([
  ['of twenty questions', 20, 100, undefined],
  ['of one question', 1, 400, undefined],
  ['of twenty questions with equal conditions', 20, 100, "'eq', 'value', 'pro'"],
  ['of twenty questions with different conditions', 20, 30, "'eq', 'value', 'pro ' || id"],
  [
    'of twenty questions with long lists',
    20,
    5,
    "'in', 'value', (select jsonb_agg(n || ' ' || o || id) from generate_series(1, 100) as o)",
  ],
])('catalogs use the estimated memory, %s', async (_, questions, tenants, condition) => {
  const ids = count(tenants, () => newUuid());
  await database.query(ADD_QUESTIONS, [ids, questions]);
  if (condition) await addAudiences(ids, condition);
  await expectAccurate('catalogs', async caches => {
    const catalog = createCatalog(storage, notices, caches);
    for (const id of ids) await catalog.of(id);
    return catalog;
  });
});

test('rules of earlier versions use the estimated memory', async () => {
  const rules = answerRules({
    type: 'single_choice',
    config: { options: count(5, index => ({ id: `option-${index}`, label: '' })), allow_other: false, shuffle: false },
    follow_ups: [],
  });
  const [row] = await database.query<{ id: string }>('select id from questions limit 1');
  const questionId = row?.id as string;
  const [{ tenant_id: tenantId } = { tenant_id: '' }] = await database.query<{ tenant_id: string }>(
    'select tenant_id from questions where id = $1',
    [questionId],
  );
  await database.query(
    `insert into question_versions select tenant_id, question_id, n, type, title, description, config, now()
     from question_versions, generate_series(100, 5000) as n where question_id = $1 and version = 1`,
    [questionId],
  );
  await expectAccurate('question_versions', async caches => {
    const lookup = createVersionLookup(storage, caches);
    for (let first = 100; first < 5000; first += 100) {
      await lookup.findRules(
        tenantId,
        count(100, index => ({ questionId, version: first + index, present: rules })),
      );
    }
    return lookup;
  });
});

test('recent syncs use the estimated memory', async () => {
  await expectAccurate('syncs', async caches => {
    const memory = createSyncMemory(caches);
    for (let number = 0; number < 20_000; number++) {
      const [id, question_id, card_id] = [fresh(newUuid()), fresh(randomUUID()), fresh(randomUUID())];
      const content_hash = hash('sha256', id, 'base64url').slice(0, 22);
      const identity = fresh(`user|${number}`);
      memory.keep(anAcceptedAnswer({ tenant_id: tenant.uuid, id, question_id, card_id, content_hash, identity }));
    }
    return memory;
  });
});

test.each([
  ['one each', 1, 10_000],
  ['twenty each', 20, 1000],
])('card ids use the estimated memory, %s', async (_, questions, users) => {
  await expectAccurate('card_ids', async caches => {
    const cardIds = createCardIds(keychain, caches);
    for (let number = 0; number < users; number++)
      for (let question = 0; question < questions; question++) cardIds(owner(number))(fresh(newUuid()));
    return cardIds;
  });
});

test('parsed ids use the estimated memory', async () => {
  parseTypeId('card', toTypeId('card', newUuid()));
  const before = await collectAfterTurn();
  const { bytes } = parsedIds();
  for (let number = 0; number < 8000; number++) parseTypeId('card', fresh(toTypeId('card', newUuid())));
  const factor = (parsedIds().bytes - bytes) / ((await collectAfterTurn()) - before);
  console.info(`ids: estimated / heap = ${factor.toFixed(2)}`);
  expect(factor).toBeGreaterThan(LEAST);
  expect(factor).toBeLessThan(MOST);
});
