import { v7 } from 'uuid';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { AcceptedAnswer } from '../../src/domain/answers/answers.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createRecordAnswers, recordFlush } from '../../src/worker/handlers/answers.ts';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { anAcceptedAnswer, anAnswer, makeTenant, publishQuestion } from '../support/make.ts';

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const storage = database.storage('parley_worker');
const log = createLog('silent', 'test');
const OUTAGE = { code: 'database-unavailable', kind: 'unavailable' };

/** A number that the column cannot hold: the database refuses the answer because of its content. */
const unstorable = (tenant_id: string) => anAcceptedAnswer({ tenant_id, duration_ms: 3_000_000_000 });

let tenantId: string;
beforeEach(() => {
  tenantId = v7();
});
const jobOf = (answers: AcceptedAnswer[]) => ({ v: 1 as const, flush: v7(), answers });
const handler = () => createRecordAnswers({ storage, metrics: createMetrics('work'), log });
const countOf = async (table: string) =>
  (await database.query<{ count: number }>(`select count(*)::int from ${table} where tenant_id = $1`, [tenantId]))[0]
    ?.count;

/** Runs `work` while the worker's role lacks a right. */
async function without<T>(right: string, work: () => Promise<T>): Promise<T> {
  await database.query(`revoke ${right} from parley_worker`);
  try {
    return await work();
  } finally {
    await database.query(`grant ${right} to parley_worker`);
  }
}

describe('a right that the worker has lost', () => {
  test.each([
    'insert on answers',
    'insert on recorded_flushes',
    'insert on card_records',
    'insert on ingestion_totals',
    'select on deleted_tenants',
  ])('%s is an outage, and no fault of the answers', async right => {
    const job = jobOf([anAcceptedAnswer({ tenant_id: tenantId }), anAcceptedAnswer({ tenant_id: tenantId })]);
    await without(right, async () => {
      await expect(handler()(structuredClone(job))).rejects.toMatchObject(OUTAGE);
      await expect(recordFlush(storage, structuredClone(job))).rejects.toMatchObject(OUTAGE);
    });
    await handler()(job);
    expect([await countOf('answers'), await countOf('quarantined_answers')]).toEqual([2, 0]);
  });

  test('is an outage also for a flush with an answer that belongs into the quarantine', async () => {
    const job = jobOf([anAcceptedAnswer({ tenant_id: tenantId }), unstorable(tenantId)]);
    await without('insert on quarantined_answers', async () => {
      await expect(handler()(structuredClone(job))).rejects.toMatchObject(OUTAGE);
      await expect(recordFlush(storage, structuredClone(job))).rejects.toMatchObject(OUTAGE);
    });
    await handler()(job);
    expect([await countOf('answers'), await countOf('quarantined_answers')]).toEqual([1, 1]);
  });
});

test('a worker keeps the answers until it has the right again, and counts no attempt', async () => {
  await using api = await createApi();
  await using worker = await createWorker(api);
  const tenant = await makeTenant(api);
  const as = tenant.key.apiKey;
  const { id } = await publishQuestion(api, tenant);
  const tries = async () => (await worker.metrics.jobRetries.get()).values.reduce((sum, { value }) => sum + value, 0);
  await api.database.query('revoke insert on answers from parley_worker');
  const answers = Array.from({ length: 3 }, () => anAnswer({ question_id: id, identity: 'ada' }));
  expect((await api.request('POST', '/v1/answers', { as, body: { answers } })).status).toBe(202);
  await waitFor(async () => (await tries()) >= 3);
  expect(await api.database.query('select attempts_made from bullmq.job')).toEqual([{ attempts_made: 0 }]);
  await api.database.query('grant insert on answers to parley_worker');
  const ingestion = async () => (await api.request('GET', '/v1/ingestion', { as })).body;
  await waitFor(async () => (await ingestion()).queued === 0);
  expect(await ingestion()).toMatchObject({ stored: 3, quarantined: 0 });
});
