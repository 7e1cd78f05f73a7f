import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createSeals } from '../../src/platform/secrets.ts';
import { isolate } from '../../src/queue/isolation.ts';
import { type EncodedAnswer, quarantineEncoded, recordAnswers } from '../../src/storage/answers/recording.ts';
import { countLosses } from '../../src/storage/upkeep/conservation.ts';
import { deleteTenant, eraseDeletedTenant } from '../../src/storage/upkeep/deleted-tenants.ts';
import { createRecordAnswers } from '../../src/worker/handlers/answers.ts';
import { backends, createApi, createWorker, waitFor } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { anAcceptedAnswer, anAnswer, makeTenant, publishQuestion, storageOf } from '../support/make.ts';

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const worker = database.storage('parley_worker');
const home = { database, seals: createSeals({ current: randomBytes(32).toString('base64'), others: [] }) };

const makeDeleted = async (): Promise<string> => {
  const { uuid } = await makeTenant(home);
  await deleteTenant(storageOf(home).forTenant(uuid));
  for await (const _ of eraseDeletedTenant(worker, uuid));
  return uuid;
};

/** The tables in which a tenant has rows. */
async function tablesOf(tenantId: string, of = database): Promise<string[]> {
  const tables = await of.query<{ name: string }>(
    "select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'tenant_id'",
  );
  const found = [];
  for (const { name } of tables)
    if ((await of.query(`select from ${name} where tenant_id = $1 limit 1`, [tenantId])).length > 0) found.push(name);
  return found.toSorted();
}

describe('answers of a deleted tenant', () => {
  test('leave nothing, do not fail their flush, and the other answers are stored', async () => {
    const [gone, kept] = [await makeDeleted(), v7()];
    const metrics = createMetrics('work');
    const handle = createRecordAnswers({ storage: worker, metrics, log: createLog('silent', 'test') });
    const answers = [gone, kept, gone, kept].map(tenant_id => anAcceptedAnswer({ tenant_id }));
    await handle({ v: 1, flush: v7(), answers });
    expect(await tablesOf(gone)).toEqual([]);
    const stored = await database.query('select from answers where tenant_id = $1', [kept]);
    expect(stored).toHaveLength(2);
    expect((await metrics.answersStored.get()).values[0]?.value).toBe(2);
    expect((await metrics.answersRepeated.get()).values[0]?.value).toBe(2);
  });

  test('that the database would reject are not quarantined, and do not send others there', async () => {
    const [gone, kept] = [await makeDeleted(), v7()];
    const handle = createRecordAnswers({
      storage: worker,
      metrics: createMetrics('work'),
      log: createLog('silent', 'test'),
    });
    const answers = [
      anAcceptedAnswer({ tenant_id: gone, comment: 'poison\u0000' }),
      anAcceptedAnswer({ tenant_id: kept, comment: 'poison\u0000' }),
      anAcceptedAnswer({ tenant_id: kept }),
    ];
    await handle({ v: 1, flush: v7(), answers });
    expect(await tablesOf(gone)).toEqual([]);
    expect(await database.query('select from answers where tenant_id = $1', [kept])).toHaveLength(1);
    expect(await database.query('select from quarantined_answers where tenant_id = $1', [kept])).toHaveLength(1);
  });

  test('that killed their process are not kept either', async () => {
    const gone = await makeDeleted();
    const [sealed] = isolate({ v: 1, flush: v7(), answers: [anAcceptedAnswer({ tenant_id: gone })] });
    await quarantineEncoded(worker, sealed as EncodedAnswer, 'it ended its process');
    expect(await tablesOf(gone)).toEqual([]);
  });

  test('that were quarantined are not restored by a replay in progress', async () => {
    const gone = await makeDeleted();
    const replayed = anAcceptedAnswer({ tenant_id: gone, replay_of: v7() });
    await recordAnswers(worker, [{ flush: v7(), answers: [replayed] }]);
    expect(await tablesOf(gone)).toEqual([]);
  });
});

test('data stored for it by a process of the previous version is deleted by the next worker', async () => {
  await using api = await createApi();
  const { uuid } = await makeTenant(api);
  await deleteTenant(storageOf(api).forTenant(uuid));
  await api.database.query("insert into card_records values ($1, 'u', true, $1, now())", [uuid]);
  await api.database.query('insert into ingestion_totals values ($1, 1, 0, 0, 0)', [uuid]);
  await using _worker = await createWorker(api);
  await waitFor(async () => (await tablesOf(uuid, api.database)).length === 0);
});

describe.each(backends())('with the queue in %s', backend => {
  test('answers queued when their tenant was deleted leave no trace, and are not reported as lost', async () => {
    await using api = await createApi({ backend, settings: { INGESTION_CHECK_S: '1' } });
    const [gone, kept] = [await makeTenant(api), await makeTenant(api)];
    for (const tenant of [gone, kept]) {
      const question = await publishQuestion(api, tenant);
      const sent = Array.from({ length: 20 }, (_, index) =>
        anAnswer({ question_id: question.id, identity: `user|${index}` }),
      );
      const replies = await Promise.all(
        sent.map(answer => api.request('POST', '/v1/answers', { as: tenant.key.apiKey, body: { answers: [answer] } })),
      );
      expect(replies.every(({ status }) => status === 202)).toBe(true);
    }
    await deleteTenant(storageOf(api).forTenant(gone.uuid));
    await using _worker = await createWorker(api);
    await waitFor(
      async () => (await api.database.query('select from answers where tenant_id = $1', [kept.uuid])).length === 20,
    );
    await waitFor(async () => (await tablesOf(gone.uuid, api.database)).length === 0);
    const succeeded = async () =>
      /^parley_canary_last_success_timestamp_seconds (\d+)/m.exec(await api.metrics.render())?.[1];
    const before = await succeeded();
    await waitFor(async () => (await succeeded()) !== before);
    expect((await api.request('GET', '/readyz')).body.degraded).toEqual([]);
    expect(await countLosses(storageOf(api))).toEqual({ flushes: 0, answers: 0 });
    const ingestion = await api.request('GET', '/v1/ingestion', { as: kept.key.apiKey });
    expect(ingestion.body).toMatchObject({ accepted: 20, stored: 20, queued: 0 });
  });
});
