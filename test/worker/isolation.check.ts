import { resolve } from 'node:path';
import { v7 } from 'uuid';
import { describe, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { connectQueue } from '../../src/queue/connection.ts';
import { ISOLATED, isolate, KEPT_UNTIL_DONE } from '../../src/queue/isolation.ts';
import { type IsolatedAnswer, QUEUES, type QueueName, type RecordAnswers } from '../../src/queue/jobs.ts';
import { entryOfFlush, entryOfPart, type PendingEntry } from '../../src/queue/pending.ts';
import { addCounted, type CountedJob } from '../../src/queue/pending-redis.ts';
import { recordAnswers } from '../../src/storage/answers/recording.ts';
import { backends, createApi, createWorker, environmentOf, type TestApi, waitFor } from '../support/api.ts';
import { anAcceptedAnswer, anAnswer, makeTenant, publishQuestion } from '../support/make.ts';
import { supervise } from '../support/process.ts';

const POISON = resolve(import.meta.dirname, '../faults/poison.ts');
/** Longer than a worker's lock, so that its jobs are taken over. */
const LOOP_MS = 11_000;

/** The queues of an API. */
async function openQueues(api: TestApi) {
  const target = { databaseUrl: api.database.url, redisUrl: api.config.REDIS_URL };
  const connection = connectQueue(target, createLog('silent', 'test'));
  if (connection.redis) await waitFor(() => connection.redis?.status === 'ready');
  return connection;
}

/** The number of failed jobs in all queues, which are not retried. */
async function countFailed(api: TestApi): Promise<number> {
  const connection = await openQueues(api);
  const counts = await Promise.all(Object.values(QUEUES).map(name => connection.queue(name).getFailedCount()));
  await connection.close();
  return counts.reduce((sum, count) => sum + count, 0);
}

describe.each(backends())('with the queue in %s', backend => {
  test('a move to the isolation is repeated after its worker died, and counted correctly at every moment', async ({
    expect,
  }) => {
    await using api = await createApi({ backend });
    const tenant = await makeTenant(api);
    const read = async () => (await api.request('GET', '/v1/ingestion', { as: tenant.key.apiKey })).body;
    const payload: RecordAnswers = {
      v: 1,
      flush: v7(),
      answers: Array.from({ length: 6 }, () => anAcceptedAnswer({ tenant_id: tenant.uuid })),
    };
    const parts = isolate(payload);
    const storage = api.database.storage('parley_worker');
    const store = (index: number) => {
      const { flush, part_of } = parts[index] as IsolatedAnswer;
      return recordAnswers(storage, [{ flush, part_of, answers: payload.answers.slice(index, index + 1) }]);
    };
    const connection = await openQueues(api);
    const { redis, queue } = connection;
    /** Adds jobs like a producer or a worker. */
    const add = async (to: QueueName, jobs: CountedJob[], replaced?: string) => {
      if (redis) await addCounted(redis, queue(to), jobs, replaced);
      else await queue(to).addBulk(jobs.map(({ name, data, opts }) => ({ name, data, opts })));
    };
    const asJob = <D extends CountedJob['data']>(name: string, data: D, entry: PendingEntry): CountedJob => ({
      name,
      data,
      opts: { ...KEPT_UNTIL_DONE, jobId: data.flush },
      entry,
    });
    await add(QUEUES.answers, [asJob('answers.record', payload, entryOfFlush(payload))]);
    expect(await read()).toMatchObject({ accepted: 6, queued: 6 });
    await (await queue().getJob(payload.flush))?.updateProgress(ISOLATED);
    const asParts = parts.map(part => asJob('answers.isolated', part, entryOfPart(part)));
    await add(QUEUES.isolation, asParts, payload.flush);
    expect(await read()).toMatchObject({ accepted: 6, queued: 6 });
    await store(0);
    expect(await read()).toMatchObject({ accepted: 6, stored: 1, queued: 5 });
    await store(5);
    await (await queue(QUEUES.isolation).getJob(parts[5]?.flush as string))?.remove();
    expect(await read()).toMatchObject({ accepted: 6, stored: 2, queued: 4 });
    await add(QUEUES.isolation, asParts, payload.flush); // the flush is moved again, because its worker was killed before it completed the job
    expect(await read()).toMatchObject({ accepted: 6, stored: 2, queued: 4 });
    await connection.close();

    await using _worker = await createWorker(api);
    await waitFor(async () => {
      const now = await read();
      expect(now.accepted).toBe(6);
      return now.queued === 0;
    });
    expect(await read()).toMatchObject({ accepted: 6, stored: 6, repeated: 0, quarantined: 0 });
  });
});

test('a flush whose workers were killed at random is stored completely, and none of its answers is isolated', async ({
  expect,
}) => {
  await using api = await createApi();
  const tenant = await makeTenant(api);
  const answers = Array.from({ length: 20 }, () => anAcceptedAnswer({ tenant_id: tenant.uuid }));
  const connection = await openQueues(api);
  const flush = v7();
  await connection.queue().add('answers.record', { v: 1, flush, answers }, { ...KEPT_UNTIL_DONE, jobId: flush });
  await api.database.query('update bullmq.job set stalled_count = 4');
  await using _worker = await createWorker(api);
  const read = async () => (await api.request('GET', '/v1/ingestion', { as: tenant.key.apiKey })).body;
  await waitFor(async () => (await read()).stored === 20);
  expect(await read()).toMatchObject({ queued: 0, repeated: 0, quarantined: 0 });
  const marks = await api.database.query('select id from recorded_flushes where id = $1 and not in_parts', [flush]);
  expect(marks).toHaveLength(1);
  await connection.close();
});

describe.concurrent.each(backends())('with the queue in %s', backend => {
  test('answers that kill, hang or fail the worker are quarantined, and all others are stored', async ({ expect }) => {
    await using api = await createApi({ backend });
    const tenant = await makeTenant(api);
    const question = await publishQuestion(api, tenant);
    const answer = (comment: string) => anAnswer({ question_id: question.id, identity: 'user|42', comment });
    const good = Array.from({ length: 295 }, () => answer('good'));
    const killing = answer('poison:kill');
    const looping = answer('poison:loop');
    const throwing = Array.from({ length: 3 }, () => answer('poison:throw'));
    const all = [...good.slice(0, 100), killing, ...good.slice(100, 200), looping, ...throwing, ...good.slice(200)];
    for (let start = 0; start < all.length; start += 30) {
      const body = { answers: all.slice(start, start + 30) };
      const sent = await api.request('POST', '/v1/answers', { as: tenant.key.apiKey, body });
      expect(sent.status, JSON.stringify(sent.body)).toBe(202);
    }

    const environment = {
      ...environmentOf(api),
      NODE_OPTIONS: `--import=${POISON}`,
      POISON_LOOP_MS: String(LOOP_MS),
    };
    const read = async () => (await api.request('GET', '/v1/ingestion', { as: tenant.key.apiKey })).body;
    {
      await using first = await supervise('work', environment);
      await using second = await supervise('work', environment);
      const figures = await waitFor(async () => {
        const now = await read();
        if (now.code === 'queue-unavailable') return false; // the hanging workers occupy the store's cores
        expect(now.accepted).toBe(all.length); // wherever the answers currently are
        return now.queued === 0 && now;
      }, 300_000);
      expect(figures).toMatchObject({ stored: good.length, repeated: 0, quarantined: 5 });
      expect(await countFailed(api)).toBe(0);
      expect(first.deaths() + second.deaths()).toBe(2);
    }

    const { body: quarantine } = await api.request('GET', '/v1/quarantine', { as: tenant.key.apiKey });
    const reported = Object.fromEntries(
      quarantine.data.map((entry: { answer_id: string; reason: string; detail: string }) => [
        entry.answer_id,
        `${entry.reason}: ${entry.detail}`,
      ]),
    );
    expect(reported).toEqual({
      [killing.id]: 'unprocessable: Error: the process storing it exited (SIGKILL)',
      [looping.id]: 'unprocessable: Error: the process storing it did not respond for 5 s',
      ...Object.fromEntries(
        throwing.map(({ id }) => [id, 'unprocessable: Error: TypeError: This answer meets a bug.']),
      ),
    });
    expect(quarantine.data.map((entry: { payload: { comment: string } }) => entry.payload.comment).sort()).toEqual(
      ['kill', 'loop', 'throw', 'throw', 'throw'].map(effect => `poison:${effect}`),
    );

    await using _mended = await createWorker(api);
    for (const { id } of quarantine.data)
      expect((await api.request('POST', `/v1/quarantine/${id}/replay`, { as: tenant.key.apiKey })).status).toBe(200);
    await waitFor(async () => (await read()).stored === all.length);
    const stored = await api.database.query<{ id: string }>('select id from answers');
    expect(new Set(stored.map(row => row.id))).toEqual(new Set(all.map(({ id }) => id)));
    expect(await read()).toMatchObject({ accepted: all.length, stored: all.length, quarantined: 0, queued: 0 });
  }, 300_000);
});
