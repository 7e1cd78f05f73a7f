import { v7 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { newNumberedUuid, numberUuid } from '../../src/domain/ids.ts';
import { createLog } from '../../src/platform/log.ts';
import { connectQueue } from '../../src/queue/connection.ts';
import { ISOLATED, isolate, KEPT_UNTIL_DONE } from '../../src/queue/isolation.ts';
import { QUEUES, type RecordAnswers } from '../../src/queue/jobs.ts';
import { findQueued } from '../../src/queue/snapshot.ts';
import { recordAnswers } from '../../src/storage/answers/recording.ts';
import { auditFlushes, claimFlushes, countLosses, type FindQueued } from '../../src/storage/upkeep/conservation.ts';
import { backends, createApi, createWorker, type TestApi, waitFor } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { anAcceptedAnswer, anAnswer, makeTenant, publishQuestion } from '../support/make.ts';

/** The value of a series, by its rendered name with labels. */
async function readMetric(api: TestApi, series: string): Promise<number | undefined> {
  const line = (await api.metrics.render()).split('\n').find(text => text.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

const lostFlushes = (api: TestApi) => readMetric(api, 'parley_conservation_difference{kind="flush"}');
const lostAnswers = (api: TestApi) => readMetric(api, 'parley_conservation_difference{kind="answer"}');
const degraded = async (api: TestApi): Promise<string[]> => (await api.request('GET', '/readyz')).body.degraded;

async function make(api: TestApi) {
  const tenant = await makeTenant(api);
  const question = await publishQuestion(api, tenant);
  const send = async () => {
    const answer = anAnswer({ question_id: question.id, identity: 'user|42' });
    const sent = await api.request('POST', '/v1/answers', { as: tenant.key.apiKey, body: { answers: [answer] } });
    expect(sent.status).toBe(202);
    return answer.id;
  };
  const target = { databaseUrl: api.database.url, redisUrl: api.config.REDIS_URL };
  const connection = connectQueue(target, createLog('silent', 'test'));
  if (connection.redis) await waitFor(() => connection.redis?.status === 'ready');
  /** The waiting job that contains an answer. */
  const jobOf = async (answerId: string) => {
    const jobs = await connection.queue().getJobs(['waiting']);
    const job = jobs.find(({ data }) => (data as RecordAnswers).answers.some(({ id }) => id === answerId));
    if (!job) throw new Error('the answer is not queued');
    return job;
  };
  return { tenant, send, jobOf, connection };
}

describe.each(backends())('with the queue in %s', backend => {
  test('a canary passes the whole pipeline and leaves only its delay; without a worker it is reported', async () => {
    await using api = await createApi({ backend, settings: { INGESTION_CHECK_S: '1' } });
    await waitFor(async () => (await readMetric(api, 'parley_canary_failures_total')) === 1);
    expect(await degraded(api)).toEqual(['canary: not stored within 1 s']);
    await using _worker = await createWorker(api);
    await waitFor(async () => ((await readMetric(api, 'parley_canary_delay_seconds')) as number) > 0);
    await waitFor(async () => (await degraded(api)).length === 0); // a slow machine may miss the second again
    const success = (await readMetric(api, 'parley_canary_last_success_timestamp_seconds')) as number;
    expect(Math.abs(Date.now() / 1000 - success)).toBeLessThan(60);
    await waitFor(async () => (await readMetric(api, 'parley_canary_last_success_timestamp_seconds')) !== success);
    const left = (await api.database.query('select id from answers')).length;
    const late = (await readMetric(api, 'parley_canary_failures_total')) as number; // a busy machine has more than one
    expect(left).toBeLessThanOrEqual(late + 1); // one is in transit
    expect(await api.database.query('select id from tenants')).toEqual([]);
    expect(await lostFlushes(api)).toBe(0);
    expect(await lostAnswers(api)).toBe(0);
  });

  test('a flush removed from the queue is reported as missing until it returns', async () => {
    await using api = await createApi({ backend, settings: { INGESTION_CHECK_S: '1' } });
    const { send, jobOf, connection } = await make(api);
    const kept = await send();
    const lost = await send();
    await waitFor(async () => (await lostFlushes(api)) === 0);
    const job = await jobOf(lost);
    await job.remove();
    await waitFor(async () => (await lostFlushes(api)) === 1);
    expect(await degraded(api)).toContainEqual(expect.stringContaining('balance: 1 flushes or answers are missing'));

    await connection.queue().add('answers.record', job.data, { ...KEPT_UNTIL_DONE, jobId: job.id as string });
    await connection.close();
    await using _worker = await createWorker(api);
    await waitFor(async () => (await lostFlushes(api)) === 0);
    const rows = await api.database.query<{ id: string }>('select id from answers where id = any($1)', [[kept, lost]]);
    expect(rows).toHaveLength(2);
  });

  test('a waiting or isolated flush is not reported as missing', async () => {
    await using api = await createApi({ backend });
    const { send, jobOf, connection } = await make(api);
    const storage = api.database.storage();
    const payload = (await jobOf(await send())).data as RecordAnswers;
    const [producer, number] = [`${payload.flush.slice(0, 24)}000000000000`, Number(`0x${payload.flush.slice(24)}`)];
    await claimFlushes(storage, { producer, written: number, voided: [], since: new Date() });
    const audit = async () => (await auditFlushes(storage, flushes => findQueued(connection, flushes))).lost;
    expect(await audit()).toEqual([]);
    const job = await connection.queue().getJob(payload.flush);
    await job?.updateProgress(ISOLATED);
    for (const part of isolate(payload))
      await connection.queue(QUEUES.isolation).add('answers.isolated', part, { ...KEPT_UNTIL_DONE, jobId: part.flush });
    await job?.remove();
    expect(await audit()).toEqual([]);
    await (await connection.queue(QUEUES.isolation).getJob(isolate(payload)[0]?.flush as string))?.remove();
    expect(await audit()).toEqual([payload.flush]);
    await connection.close();
  });
});

test('an answer deleted by hand is reported as missing, and one deleted over HTTP is not', async () => {
  await using api = await createApi({ settings: { INGESTION_CHECK_S: '1' } });
  await using _worker = await createWorker(api);
  const { tenant, send, connection } = await make(api);
  await connection.close();
  const ids = await Promise.all([send(), send(), send()]);
  await waitFor(async () => (await api.database.query('select from answers where id = any($1)', [ids])).length === 3);
  const deleted = await api.request('DELETE', `/v1/answers/${ids[0]}`, { as: tenant.key.apiKey });
  expect(deleted.status).toBe(204);
  await waitFor(async () => (await lostAnswers(api)) === 0);
  await api.database.query('delete from answers where id = $1', [ids[1]]);
  await waitFor(async () => (await lostAnswers(api)) === 1);
  expect(await degraded(api)).toContainEqual(expect.stringContaining('balance: 1'));
});

describe('an audit', () => {
  const nothingHeld = async () => new Set<string>();

  async function makeProducer() {
    const database = await createDatabase();
    const [app, worker] = [database.storage(), database.storage('parley_worker')];
    const producer = newNumberedUuid();
    const flush = (number: number) => numberUuid(producer, number);
    return {
      app,
      flush,
      claim: (written: number, voided: number[] = [], since = new Date()) =>
        claimFlushes(app, { producer, written, voided, since }),
      audit: async (findHeld: FindQueued = nothingHeld) => (await auditFlushes(app, findHeld)).lost,
      database,
      record: (number: number) =>
        recordAnswers(worker, [{ flush: flush(number), answers: [anAcceptedAnswer({ tenant_id: v7() })] }]),
      lost: async () => (await countLosses(app)).flushes,
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  }

  test('reports claimed flushes that are nowhere, but not void or unclaimed ones', async () => {
    await using producer = await makeProducer();
    for (const number of [1, 3, 6]) await producer.record(number);
    await producer.claim(4, [2]);
    await producer.claim(4, [2]); // the reply to the first claim was lost
    expect(await producer.audit()).toEqual([producer.flush(4)]);
    await producer.claim(6);
    expect(await producer.audit()).toEqual([producer.flush(5)]);
    expect(await producer.audit()).toEqual([]);
    expect(await producer.lost()).toBe(2);
    await producer.record(4);
    await producer.audit();
    expect(await producer.lost()).toBe(1);
  });

  test('keeps checking queued flushes, however long ago the rest was recorded', async () => {
    await using producer = await makeProducer();
    for (const number of [1, 3]) await producer.record(number);
    await producer.claim(3);
    expect(await producer.audit(async () => new Set([producer.flush(2)]))).toEqual([]);
    const seen: string[][] = [];
    const lost = await producer.audit(async flushes => {
      seen.push(flushes);
      return new Set();
    });
    expect(seen).toEqual([[producer.flush(2)]]);
    expect(lost).toEqual([producer.flush(2)]);
  });

  test('does not report flushes that move from the queue to the records during the check', async () => {
    await using producer = await makeProducer();
    await producer.claim(1);
    const lost = await producer.audit(async () => {
      await producer.record(1);
      return new Set();
    });
    expect(lost).toEqual([]);
  });

  test('reports nothing if the queue cannot be read, and leaves the check to the next run', async () => {
    await using producer = await makeProducer();
    await producer.claim(1);
    const unreadable = () => Promise.reject(new Error('away'));
    await expect(producer.audit(unreadable)).rejects.toThrow('away');
    expect(await producer.lost()).toBe(0);
    expect(await producer.audit()).toEqual([producer.flush(1)]);
  });

  test('settles every claim, at any number, and does not report recorded ones', async () => {
    await using producer = await makeProducer();
    const { app, database, flush } = producer;
    const numbers = Array.from({ length: 25_000 }, (_, index) => index + 1);
    await database.query('insert into recorded_flushes select id, now() from unnest($1::uuid[]) as id', [
      numbers.filter(number => number !== 24_000 && number !== 500).map(flush),
    ]);
    await producer.claim(25_000);
    expect(await producer.audit()).toEqual([flush(500), flush(24_000)]);
    const [row] = await app.query<{ settled: string }>('select settled from flush_producers');
    expect(Number(row?.settled)).toBe(25_000);
  });

  test('does not judge flushes older than the marks, and reports how many it skipped', async () => {
    await using producer = await makeProducer();
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
    await producer.claim(2, [], daysAgo(7.5)); // recorded then, so its flush marks may have been deleted
    expect(await auditFlushes(producer.app, nothingHeld)).toEqual({ lost: [], skipped: 2 });
    await producer.claim(3, [], daysAgo(6));
    expect(await auditFlushes(producer.app, nothingHeld)).toEqual({ lost: [producer.flush(3)], skipped: 0 });
  });

  test('checks the same number of queued flushes at any backlog, in rotation', async () => {
    await using producer = await makeProducer();
    await producer.claim(25_000);
    const asked: number[] = [];
    const allHeld = async (flushes: string[]) => {
      asked.push(flushes.length);
      return new Set(flushes);
    };
    await producer.audit(allHeld);
    expect(asked).toEqual([10_000, 10_000, 5_000]);
    const missing = producer.flush(25_000);
    const withoutLast = async (flushes: string[]) => new Set((await allHeld(flushes)).difference(new Set([missing])));
    for (const lost of [[], [], [missing]]) expect(await producer.audit(withoutLast)).toEqual(lost);
    expect(asked.slice(3)).toEqual([10_000, 10_000, 10_000]);
  });
});
