import { v7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import type { AcceptedAnswer } from '../../src/domain/answers/answers.ts';
import { Problem } from '../../src/domain/problem.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import type { RecordAnswers } from '../../src/queue/jobs.ts';
import type { Storage } from '../../src/storage/database/orm.ts';
import { findIngestionTotals, listQuarantined } from '../../src/storage/upkeep/ingestion.ts';
import { createRecordAnswers } from '../../src/worker/handlers/answers.ts';
import { createDatabase } from '../support/database.ts';
import { anAcceptedAnswer } from '../support/make.ts';

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const app = database.storage();
const worker = database.storage('parley_worker');
const log = createLog('silent', 'test');

const handlerOn = (storage: Storage) => {
  const metrics = createMetrics('work');
  return { metrics, handle: createRecordAnswers({ storage, metrics, log }) };
};
const jobOf = (answers: AcceptedAnswer[]): RecordAnswers => ({ v: 1, flush: v7(), answers });
const someAnswers = (tenant_id: string, count: number, fields: Partial<AcceptedAnswer> = {}) =>
  Array.from({ length: count }, () => anAcceptedAnswer({ tenant_id, ...fields }));
const storedIds = async (tenantId: string) =>
  (await database.query<{ id: string }>('select id from answers where tenant_id = $1', [tenantId])).map(({ id }) => id);
const quarantined = async (tenantId: string) => (await listQuarantined(app.forTenant(tenantId), 100, null)).rows;

test('a job run twice leaves one row per answer and counts each once', async () => {
  const tenantId = v7();
  const { handle, metrics } = handlerOn(worker);
  const job = jobOf(someAnswers(tenantId, 3));
  await handle(job);
  await handle(structuredClone(job));
  expect(await storedIds(tenantId)).toHaveLength(3);
  expect((await findIngestionTotals(app.forTenant(tenantId), [])).totals).toMatchObject({
    stored: 3,
    repeated: 0,
    quarantined: 0,
  });
  expect((await metrics.answersStored.get()).values[0]?.value).toBe(3);
});

test('the same answers in another job are repeats', async () => {
  const tenantId = v7();
  const { handle } = handlerOn(worker);
  const answers = someAnswers(tenantId, 3);
  await Promise.all([handle(jobOf(answers)), handle(jobOf(structuredClone(answers)))]);
  expect(await storedIds(tenantId)).toHaveLength(3);
  expect((await findIngestionTotals(app.forTenant(tenantId), [])).totals).toMatchObject({
    stored: 3,
    repeated: 3,
    quarantined: 0,
  });
});

describe('a batch with answers that the database rejects', () => {
  test('quarantines only those, found by halving, even if the job runs twice', async () => {
    const tenantId = v7();
    const { handle } = handlerOn(worker);
    const answers = someAnswers(tenantId, 20);
    const poison = [3, 4, 17].map(index => {
      answers[index] = anAcceptedAnswer({ tenant_id: tenantId, comment: `poison\u0000${index}` });
      return answers[index].id;
    });
    const job = jobOf(answers);
    await handle(job);
    await handle(job);
    expect(new Set(await storedIds(tenantId))).toEqual(
      new Set(answers.map(({ id }) => id).filter(id => !poison.includes(id))),
    );
    const entries = await quarantined(tenantId);
    expect(entries.map(entry => entry.answer_id).sort()).toEqual(poison.sort());
    for (const entry of entries) expect(entry).toMatchObject({ reason: 'unstorable' });
    expect((await findIngestionTotals(app.forTenant(tenantId), [])).totals).toMatchObject({
      stored: 17,
      quarantined: 3,
    });
  });

  test('never fails other jobs', async () => {
    const { handle } = handlerOn(worker);
    const tenants = Array.from({ length: 10 }, () => v7());
    const poisoned = tenants[4] as string;
    await Promise.all(
      tenants.map(tenantId =>
        handle(jobOf(someAnswers(tenantId, 5, tenantId === poisoned ? { values: { main: '\u0000' } } : {}))),
      ),
    );
    for (const tenantId of tenants) {
      expect(await storedIds(tenantId)).toHaveLength(tenantId === poisoned ? 0 : 5);
      expect(await quarantined(tenantId)).toHaveLength(tenantId === poisoned ? 5 : 0);
    }
  });

  test('stores a replay that has become storable, once, and keeps one that has not', async () => {
    const tenantId = v7();
    const { handle } = handlerOn(worker);
    await handle(jobOf(someAnswers(tenantId, 2, { comment: '\u0000' })));
    const [first, second] = await quarantined(tenantId);
    const replayOf = (entry: typeof first, fields: Partial<AcceptedAnswer> = {}): AcceptedAnswer => ({
      ...(JSON.parse(entry?.payload ?? '') as AcceptedAnswer),
      replay_of: entry?.id as string,
      ...fields,
    });
    const job = jobOf([replayOf(first, { comment: 'mended' }), replayOf(second)]);
    await handle(job);
    await handle(job);
    expect(await storedIds(tenantId)).toEqual([first?.answer_id]);
    expect((await quarantined(tenantId)).map(entry => entry.id)).toEqual([second?.id]);
    expect((await findIngestionTotals(app.forTenant(tenantId), [])).totals).toMatchObject({
      stored: 1,
      repeated: 0,
      quarantined: 1,
    });
  });
});

/** A seeded generator of numbers in [0, 1) (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const FAULTS = ['08006', '40001', '40P01', '53300', '57014', '23505'];

/** A storage whose transactions randomly fail before they start, between statements, or after the commit. */
function failing(storage: Storage, random: () => number, rate: number): Storage {
  const mayFail = () => {
    if (random() >= rate) return;
    const code = FAULTS[Math.floor(random() * FAULTS.length)] as string;
    const cause = Object.assign(new Error(`injected ${code}`), { code });
    throw code.startsWith('23') ? cause : new Problem('database-unavailable', 'injected', { cause });
  };
  return {
    ...storage,
    async transaction(work) {
      mayFail();
      const result = await storage.transaction(session =>
        work({
          query: async (sql, params) => {
            mayFail();
            return session.query(sql, params);
          },
        }),
      );
      mayFail(); // committed, but its confirmation is lost
      return result;
    },
  };
}

test.each([1, 2, 3, 4, 5, 6])(
  'under random faults of the database every answer ends in one place (seed %i)',
  async seed => {
    const tenantId = v7();
    const random = seeded(seed);
    const { handle } = handlerOn(failing(worker, random, 0.1));
    const poison = someAnswers(tenantId, 2, { comment: 'a\u0000' });
    const good = someAnswers(tenantId, 58);
    const all = [...good, ...poison];
    const jobs = Array.from({ length: 12 }, (_, index) => jobOf(all.filter((_, at) => at % 12 === index)));
    let retries = 0;
    const untilDone = async (job: RecordAnswers): Promise<void> => {
      for (;;) {
        try {
          return await handle(job);
        } catch (error) {
          if (++retries > 2000) throw error;
        }
      }
    };
    await Promise.all(jobs.map(untilDone));
    expect(retries).toBeGreaterThan(0);
    expect((await storedIds(tenantId)).sort()).toEqual(good.map(({ id }) => id).sort());
    expect((await quarantined(tenantId)).map(entry => entry.answer_id).sort()).toEqual(
      poison.map(({ id }) => id).sort(),
    );
    expect((await findIngestionTotals(app.forTenant(tenantId), [])).totals).toEqual({
      stored: 58,
      repeated: 0,
      quarantined: 2,
      rejected: 0,
    });
  },
);
