import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCatalog } from '../../src/api/cache/catalog.ts';
import { openNotices } from '../../src/coordination/notices.ts';
import { newUuid } from '../../src/domain/ids.ts';
import { createCaches } from '../../src/platform/caches.ts';
import { createLog } from '../../src/platform/log.ts';
import { openStorage, type Storage } from '../../src/storage/database/orm.ts';
import { insertTenant } from '../../src/storage/tenants/tenants.ts';
import { waitFor } from '../support/api.ts';
import { countingStorage } from '../support/counting-storage.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createProxy } from '../support/proxy.ts';

const log = createLog('silent', 'test');

test('a stale catalog is not served when reading it fails for a reason other than an outage', async () => {
  await using database = await createDatabase();
  const storage = database.storage();
  const { id } = await insertTenant(storage, 'A', new Date());
  const notices = openNotices(database.url, undefined, log);
  let hours = 0;
  try {
    const catalog = createCatalog(storage, notices, createCaches(), () => Date.now() + hours * 3_600_000);
    const before = await catalog.of(id);
    await database.query('revoke select on questions from parley_app');
    hours = 1;
    await expect(catalog.of(id)).rejects.toThrow('permission denied');
    await database.query('grant select on questions to parley_app');
    expect(await catalog.of(id)).not.toBe(before);
  } finally {
    await notices.close();
  }
});

test('a question of which a process first hears after an outage of the database is known to the first request', async () => {
  await using database = await createDatabase();
  await using proxy = await createProxy(database.url);
  const storage = openStorage({ url: proxy.through(database.url), role: 'parley_app', connections: 2, log });
  const notices = openNotices(database.url, undefined, log);
  let hours = 0;
  try {
    const catalog = createCatalog(storage, notices, createCaches(), () => Date.now() + hours * 3_600_000);
    const { id } = await insertTenant(database.storage(), 'A', new Date());
    await catalog.of(id);
    proxy.cut();
    hours = 1;
    await catalog.of(id); // finds the database unreachable
    proxy.mend();
    hours = 2;
    const named = [{ questionId: newUuid(), version: 1 }];
    expect((await catalog.including(id, named)).questions.size).toBe(0);
  } finally {
    await Promise.all([storage.close(), notices.close()]);
  }
});

test('a catalog is served during an outage of the database, until a newer one can be read', async () => {
  await using database = await createDatabase();
  await using proxy = await createProxy(database.url);
  const storage = openStorage({ url: proxy.through(database.url), role: 'parley_app', connections: 2, log });
  const notices = openNotices(database.url, undefined, log);
  try {
    const catalog = createCatalog(storage, notices, createCaches());
    const direct = database.storage();
    const [known, unknown] = [await insertTenant(direct, 'A', new Date()), await insertTenant(direct, 'B', new Date())];
    const cooldown = async () => (await catalog.of(known.id)).cooldownDays;
    const setCooldown = (days: number) =>
      database.query('update tenants set cooldown_days = $2 where id = $1', [known.id, days]);
    await setCooldown(3);
    await waitFor(async () => (await cooldown()) === 3);
    await setCooldown(4);
    await waitFor(async () => (await cooldown()) === 4); // notices arrive

    proxy.cut();
    await setCooldown(5);
    await expect(catalog.of(unknown.id)).rejects.toMatchObject({ code: 'database-unavailable' });
    for (let request = 0; request < 20; request++) expect(await cooldown()).toBe(4);
    // It is unknown whether the question exists, so the answer must not be rejected permanently.
    const named = [{ questionId: newUuid(), version: 1 }];
    await expect(catalog.including(known.id, named)).rejects.toMatchObject({ code: 'database-unavailable' });
    expect((await catalog.including(known.id, [])).cooldownDays).toBe(4);

    proxy.mend();
    await waitFor(async () => (await cooldown()) === 5);
    expect((await catalog.of(unknown.id)).cooldownDays).toBe(7);
  } finally {
    await Promise.all([storage.close(), notices.close()]);
  }
});

describe('a question that the catalog lacks', () => {
  let database: TestDatabase;
  let storage: Storage;
  let notices: ReturnType<typeof openNotices>;
  const EVERY_READING = "status in ('scheduled', 'live') order by";
  const LOOKUP = 'id = any($2::uuid[])';

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

  /** Notices that do not arrive, as directly after a commit. */
  const silent = () => ({ ...notices, onChange: () => undefined });

  const addQuestion = async (tenantId: string, fields: { version?: number; config?: object; type?: string } = {}) => {
    const { version = 1, type = 'text', config = { min_length: 0, max_length: version, input: 'text' } } = fields;
    const id = newUuid();
    await database.query(
      `insert into questions values ($1, $2, 'A', 'live', $3, $5, 'A', '', $4,
         '{"repeat": "always", "snooze_after_dismiss_days": 0, "ignore_cooldown": true}', true, 0, now(), now(), now(), null)`,
      [tenantId, id, version, config, type],
    );
    await database.query(
      `insert into question_versions select $1, $2, n, $5, 'A', '', $4::jsonb || jsonb_build_object('max_length', n), now()
       from generate_series(1, $3::int) as n`,
      [tenantId, id, version, config, type],
    );
    return id;
  };

  test('is looked up by key, in one statement for concurrent requests, and made-up ids do not reload a catalog', async () => {
    const { id } = await insertTenant(storage, 'A', new Date());
    const { counting, count } = countingStorage(storage);
    const catalog = createCatalog(counting, silent(), createCaches());
    const before = await catalog.of(id);
    const ask = () => catalog.including(id, [{ questionId: newUuid(), version: 1 }]);
    for (let request = 0; request < 50; request++) expect(await ask()).toBe(before);
    expect([count(EVERY_READING), count(LOOKUP)]).toEqual([1, 50]);
    await Promise.all(Array.from({ length: 200 }, ask));
    expect(count(EVERY_READING)).toBe(1);
    expect(count(LOOKUP)).toBeLessThanOrEqual(52);
  });

  test('that was published without a notice is read with the catalog, at most twice for concurrent requests', async () => {
    const { id } = await insertTenant(storage, 'A', new Date());
    const { counting, count } = countingStorage(storage);
    const catalog = createCatalog(counting, silent(), createCaches());
    await catalog.of(id);
    const questionId = await addQuestion(id);
    const readings = await Promise.all(
      Array.from({ length: 20 }, () => catalog.including(id, [{ questionId, version: 1 }])),
    );
    for (const reading of readings) expect(reading.rulesOf(questionId, 1)).toMatchObject([{ type: 'text' }]);
    expect(count(EVERY_READING)).toBeLessThanOrEqual(3);
  });

  test('may be any of 15,000 versions; the catalog holds ten, and others are looked up once each', async () => {
    const { id } = await insertTenant(storage, 'A', new Date());
    const { counting, count } = countingStorage(storage);
    const catalog = createCatalog(counting, silent(), createCaches());
    const questionId = await addQuestion(id, { version: 15_000 });
    const tenant = await catalog.of(id);
    expect(tenant.bytes).toBeLessThan(10_000);
    const inMemory = Array.from({ length: 15_001 }, (_, version) => version).filter(
      version => tenant.rulesOf(questionId, version) !== undefined,
    );
    expect(inMemory).toEqual(Array.from({ length: 10 }, (_, index) => 14_991 + index));
    for (const version of inMemory)
      expect(tenant.rulesOf(questionId, version)?.[0].config).toEqual({
        min_length: 0,
        max_length: version,
        input: 'text',
      });

    const older = [1, 2, 7000, 14_990];
    for (let time = 0; time < 3; time++) {
      const found = await catalog.including(
        id,
        [...older, 14_999].map(version => ({ questionId, version })),
      );
      for (const version of [...older, 14_999])
        expect(found.rulesOf(questionId, version)?.[0].config).toMatchObject({ max_length: version });
      expect(found.rulesOf(questionId, 3)).toBeUndefined();
    }
    expect(count('unnest($2::uuid[]')).toBe(1);
    expect(count(EVERY_READING)).toBe(1);
  });

  test('has the steps of its version, which equal versions share', async () => {
    const { id } = await insertTenant(storage, 'A', new Date());
    const questionId = await addQuestion(id, { version: 5 });
    const step = { key: 'why', type: 'text', title: 'Why?', description: '', required: false, show_if: null };
    const config = { min_length: 0, max_length: 100, input: 'text' };
    const setSteps = (steps: object[], versions: number[]) =>
      database.query(
        'update question_versions set follow_ups = $2::jsonb where question_id = $1 and version = any($3::int[])',
        [questionId, JSON.stringify(steps), versions],
      );
    await setSteps([{ ...step, config }], [1, 2]);
    await setSteps([{ ...step, config, required: true }], [3]);
    const tenant = await createCatalog(storage, notices, createCaches()).of(id);
    const stepsOf = (version: number) => tenant.rulesOf(questionId, version)?.slice(1);
    expect(stepsOf(1)).toMatchObject([{ key: 'why', required: false }]);
    expect(stepsOf(2)?.[0]).toBe(stepsOf(1)?.[0]);
    expect(stepsOf(3)).toMatchObject([{ key: 'why', required: true }]);
    expect(stepsOf(4)).toEqual([]);
  });

  test('has the options of its question and the other fields of its version', async () => {
    const { id } = await insertTenant(storage, 'A', new Date());
    const options = [
      { id: 'a', label: 'One' },
      { id: 'b', label: 'Two' },
    ];
    const questionId = await addQuestion(id, {
      version: 20,
      type: 'multi_choice',
      config: { options, allow_other: false, shuffle: true },
    });
    await database.query(
      `update question_versions set config = config || '{"allow_other": true, "min": 2}' where question_id = $1 and version in (3, 15)`,
      [questionId],
    );
    const catalog = createCatalog(storage, notices, createCaches());
    const tenant = await catalog.including(id, [{ questionId, version: 3 }]);
    const ids = [
      { id: 'a', label: '' },
      { id: 'b', label: '' },
    ];
    for (const version of [3, 15])
      expect(tenant.rulesOf(questionId, version)?.[0].config).toMatchObject({
        options: ids,
        allow_other: true,
        min: 2,
      });
    expect(tenant.rulesOf(questionId, 16)?.[0].config).toMatchObject({ options: ids, allow_other: false });
  });
});

describe('a tenant that changes constantly', () => {
  test('has one read in progress at a time, and requests after a change get a read that started after it', async () => {
    await using database = await createDatabase();
    const storage = database.storage();
    const { id } = await insertTenant(storage, 'A', new Date());
    let announce: (notice: { table: string; tenant_id: string; id: string }) => void = () => undefined;
    const notices = openNotices(database.url, undefined, log);
    const observed = {
      ...notices,
      onChange: (listener: typeof announce) => {
        announce = listener;
      },
    };
    let underWay = 0;
    let most = 0;
    const watched: Storage = {
      ...storage,
      forTenant: tenantId => {
        const tenant = storage.forTenant(tenantId);
        return {
          ...tenant,
          query: async (sql, params) => {
            if (!sql.includes("status in ('scheduled', 'live') order by")) return tenant.query(sql, params);
            most = Math.max(most, ++underWay);
            return tenant.query(sql, params).finally(() => underWay--) as Promise<never>;
          },
        };
      },
    };
    try {
      const catalog = createCatalog(watched, observed, createCaches());
      const reading = catalog.of(id);
      announce({ table: 'tenants', tenant_id: id, id }); // the read may have started before this change
      await reading;
      expect(catalog.cached(id)).toBeUndefined();
      await catalog.of(id);
      const asked: Promise<number>[] = [];
      for (let days = 10; days < 40; days++) {
        await database.query('update tenants set cooldown_days = $2 where id = $1', [id, days]);
        announce({ table: 'tenants', tenant_id: id, id });
        asked.push(catalog.of(id).then(tenant => tenant.cooldownDays - days));
      }
      expect(Math.min(...(await Promise.all(asked)))).toBeGreaterThanOrEqual(0);
      expect(most).toBe(1);
    } finally {
      await notices.close();
    }
  });
});
