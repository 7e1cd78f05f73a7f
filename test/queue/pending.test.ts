import type { Redis } from 'ioredis';
import { v7 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { withClient } from '../../src/platform/postgres-client.ts';
import { connectQueue, migrateQueue } from '../../src/queue/connection.ts';
import { ISOLATED, isolate, KEPT_UNTIL_DONE } from '../../src/queue/isolation.ts';
import { QUEUES, type RecordAnswers } from '../../src/queue/jobs.ts';
import { entryOfFlush, entryOfPart, HEADS } from '../../src/queue/pending.ts';
import { addCounted, addEntry, countEntries, removePending } from '../../src/queue/pending-redis.ts';
import { readPending } from '../../src/queue/snapshot.ts';
import { backends, createApi, type TestApi, waitFor } from '../support/api.ts';
import { anAcceptedAnswer } from '../support/make.ts';

const RECEIVED = Date.parse('2026-12-03T08:00:00.000Z');

/** A flush with one answer per tenant, received a second apart. */
const aFlush = (...tenants: string[]): RecordAnswers => ({
  v: 1,
  flush: v7(),
  answers: tenants.map((tenant_id, index) =>
    anAcceptedAnswer({ tenant_id, received_at: new Date(RECEIVED + index * 1000).toISOString() }),
  ),
});

const asJob = (data: RecordAnswers) => ({
  name: 'answers.record',
  data,
  opts: { ...KEPT_UNTIL_DONE, jobId: data.flush },
  entry: entryOfFlush(data),
});

/** The queues of an API, with the operations of a producer, a worker, and a process of the previous version. */
async function openQueues(api: TestApi) {
  const target = { databaseUrl: api.database.url, redisUrl: api.config.REDIS_URL };
  const connection = connectQueue(target, createLog('silent', 'test'));
  const { redis, queue } = connection;
  if (redis) await waitFor(() => redis.status === 'ready');
  return {
    target,
    connection,
    redis,
    async add(data: RecordAnswers): Promise<void> {
      const { name, opts, entry } = asJob(data);
      await Promise.all([redis && addEntry(redis, queue(), data.flush, entry), queue().add(name, data, opts)]);
    },
    /** Like a producer that is killed before it adds the job, or that repeats the entry. */
    enter: async (data: RecordAnswers) => redis && addEntry(redis, queue(), data.flush, entryOfFlush(data)),
    addAsBefore: (data: RecordAnswers) => queue().add('answers.record', data, asJob(data).opts),
    async isolate(data: RecordAnswers): Promise<void> {
      const jobs = isolate(data).map(part => ({
        name: 'answers.isolated',
        data: part,
        opts: { ...KEPT_UNTIL_DONE, jobId: part.flush },
        entry: entryOfPart(part),
      }));
      if (redis) await addCounted(redis, queue(QUEUES.isolation), jobs, data.flush);
      else await queue(QUEUES.isolation).addBulk(jobs.map(({ name, data, opts }) => ({ name, data, opts })));
    },
    async end(id: string, name: (typeof QUEUES)[keyof typeof QUEUES] = QUEUES.answers): Promise<void> {
      if (redis) await removePending(redis, [id]);
      await (await queue(name).getJob(id))?.remove();
    },
    /** Like a worker of the previous version, or an operator. */
    remove: async (id: string) => (await queue().getJob(id))?.remove(),
    counts: async (...tenants: string[]) =>
      Promise.all(tenants.map(async tenant => (await readPending(connection, tenant)).count)),
    read: (tenant: string) => readPending(connection, tenant),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

describe.each(backends())('with the queue in %s', backend => {
  test('a flush is counted for each of its tenants until it ends, once even if it is added repeatedly', async () => {
    await using api = await createApi({ backend });
    await using queues = await openQueues(api);
    const [one, other] = [v7(), v7()];
    const [first, second] = [aFlush(one, other, one), aFlush(one)];
    for (const flush of [first, first, second]) await queues.add(flush);
    expect(await queues.counts(one, other, v7())).toEqual([3, 1, 0]);
    expect(await queues.read(other)).toEqual({
      count: 1,
      heads: [{ flush: first.flush, count: 1, oldest: new Date(RECEIVED + 1000) }],
    });
    await queues.end(first.flush);
    await queues.end(first.flush);
    expect(await queues.counts(one, other)).toEqual([1, 0]);
    expect((await queues.read(one)).heads.map(({ flush }) => flush)).toEqual([second.flush]);
  });

  test.runIf(backend === 'valkey')('a flush that is entered twice before its job is added counts once', async () => {
    await using api = await createApi({ backend });
    await using queues = await openQueues(api);
    const tenant = v7();
    const flush = aFlush(tenant, tenant);
    for (let time = 0; time < 2; time++) await queues.enter(flush);
    await queues.addAsBefore(flush);
    expect(await queues.counts(tenant)).toEqual([2]);
    await queues.end(flush.flush);
    expect(await queues.counts(tenant)).toEqual([0]);
  });

  test('a replay is not counted, because it is in the quarantine', async () => {
    await using api = await createApi({ backend });
    await using queues = await openQueues(api);
    const tenant = v7();
    await queues.add({ v: 1, flush: v7(), answers: [anAcceptedAnswer({ tenant_id: tenant, replay_of: v7() })] });
    expect(await queues.read(tenant)).toEqual({ count: 0, heads: [] });
  });

  test('isolated answers are counted instead of their flush, even if it is isolated repeatedly', async () => {
    await using api = await createApi({ backend });
    await using queues = await openQueues(api);
    const [one, other] = [v7(), v7()];
    const flush = aFlush(one, other, one);
    await queues.add(flush);
    for (let time = 0; time < 2; time++) await queues.isolate(flush);
    expect(await queues.counts(one, other)).toEqual([2, 1]);
    await queues.end(flush.flush);
    expect(await queues.counts(one, other)).toEqual([2, 1]);
    const [first] = isolate(flush);
    expect((await queues.read(one)).heads[0]).toMatchObject({ flush: first?.flush, part_of: flush.flush, count: 1 });
    await queues.end(first?.flush as string, QUEUES.isolation);
    expect(await queues.counts(one, other)).toEqual([1, 1]);
  });

  test('a flush whose worker died after isolating it is not counted beside its answers', {
    timeout: 60_000,
  }, async () => {
    await using api = await createApi({ backend });
    await using queues = await openQueues(api);
    const [one, other] = [v7(), v7()];
    const flush = aFlush(one, one, one);
    await queues.add(flush);
    await (await queues.connection.queue().getJob(flush.flush))?.updateProgress(ISOLATED);
    await queues.isolate(flush);
    await queues.addAsBefore(aFlush(other)); // found by the repair that also sees the flush without an entry
    await waitFor(async () => (await queues.counts(other))[0] === 1, 40_000);
    expect(await queues.counts(one)).toEqual([3]);
  });

  test('a read returns the same number of oldest answers at any depth, oldest first', async () => {
    await using api = await createApi({ backend });
    await using queues = await openQueues(api);
    const tenant = v7();
    const add = (number: number) => {
      const received_at = new Date(RECEIVED + number * 1000).toISOString();
      return queues.add({ v: 1, flush: v7(), answers: [anAcceptedAnswer({ tenant_id: tenant, received_at })] });
    };
    for (let number = HEADS + 20; number > 0; number -= 4)
      await Promise.all([number, number - 1, number - 2, number - 3].map(add));
    const { count, heads } = await queues.read(tenant);
    expect(count).toBe(HEADS + 20);
    expect(heads.map(({ oldest }) => (oldest.getTime() - RECEIVED) / 1000)).toEqual(
      Array.from({ length: HEADS }, (_, index) => index + 1),
    );
  });

  test('a job added by a process of the previous version is counted separately', async () => {
    await using api = await createApi({ backend });
    await using queues = await openQueues(api);
    const [one, other] = [v7(), v7()];
    await queues.addAsBefore(aFlush(one, other, one));
    await waitFor(async () => (await queues.counts(one, other)).join() === '2,1');
    await queues.add(aFlush(one));
    expect(await queues.counts(one, other)).toEqual([3, 1]);
  });

  test('a job ended by a process of the previous version is no longer counted', {
    timeout: 60_000,
  }, async () => {
    await using api = await createApi({ backend });
    await using queues = await openQueues(api);
    const [left, kept] = [v7(), v7()];
    const gone = aFlush(left, left);
    for (const flush of [gone, aFlush(kept)]) await queues.add(flush);
    await queues.remove(gone.flush);
    await waitFor(async () => (await queues.counts(left, kept)).join() === '0,1', 40_000);
  });
});

test('PostgreSQL counts the jobs that were queued before the registry, each once', async () => {
  await using api = await createApi();
  await using queues = await openQueues(api);
  await api.close();
  await withClient(api.database.url, client =>
    client.query(`drop trigger parley_job_added on bullmq.job; drop trigger parley_job_removed on bullmq.job;
      drop trigger parley_jobs_truncated on bullmq.job;
      drop table bullmq.parley_pending, bullmq.parley_sums`),
  );
  const [one, other] = [v7(), v7()];
  const flushes = Array.from({ length: 450 }, () => aFlush(one, other));
  for (const flush of flushes) await queues.addAsBefore(flush);
  await Promise.all([migrateQueue(queues.target), migrateQueue(queues.target)]);
  await migrateQueue(queues.target);
  expect(await queues.counts(one, other)).toEqual([450, 450]);
  for (const { flush } of flushes.slice(0, 50)) await queues.remove(flush);
  expect(await queues.counts(one, other)).toEqual([400, 400]);
  await api.database.query('truncate bullmq.job cascade');
  expect(await queues.counts(one, other)).toEqual([0, 0]);
});

test.skipIf(!backends().includes('valkey'))('Valkey keeps counting after it has lost its scripts', async () => {
  await using api = await createApi({ backend: 'valkey' });
  await using queues = await openQueues(api);
  const tenant = v7();
  await queues.add(aFlush(tenant));
  for (const expected of [2, 3]) {
    await queues.redis?.script('FLUSH');
    await queues.add(aFlush(tenant));
    expect(await queues.counts(tenant)).toEqual([expected]);
  }
  expect(await countEntries(queues.redis as never)).toBe(3);
  expect(await queues.connection.queue().getWaitingCount()).toBe(3);
});

test.runIf(backends().includes('valkey'))(
  'jobs that are not added reject with the reason of the store, or of the connection',
  async () => {
    await using api = await createApi({ backend: 'valkey' });
    await using queues = await openQueues(api);
    const name = `limited-${v7()}`;
    await queues.redis?.call('ACL', 'SETUSER', name, 'on', 'nopass', '~*', '&*', '+@all', '-eval', '-evalsha');
    const redisUrl = new URL(api.config.REDIS_URL as string);
    redisUrl.username = redisUrl.password = name;
    const limited = connectQueue({ ...queues.target, redisUrl: redisUrl.href }, createLog('silent', 'test'));
    await waitFor(() => limited.redis?.status === 'ready');
    const add = () => addCounted(limited.redis as Redis, limited.queue(), [asJob(aFlush(v7()))]);
    await expect(add()).rejects.toThrow(/NOPERM/);
    limited.redis?.disconnect();
    await expect(add()).rejects.toThrow(/isn't writeable/);
    await limited.close();
    await queues.redis?.call('ACL', 'DELUSER', name);
  },
);
