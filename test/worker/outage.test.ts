import { describe, expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { connectQueue } from '../../src/queue/connection.ts';
import { openProducer, type Producer } from '../../src/queue/producer.ts';
import { openWorker } from '../../src/worker/worker.ts';
import { backends, createApi, type TestApi, waitFor } from '../support/api.ts';
import { anAcceptedAnswer } from '../support/make.ts';
import { createProxy } from '../support/proxy.ts';

/** A worker that uses another URL for the database. */
async function startWorker(api: TestApi, databaseUrl: string) {
  const metrics = createMetrics('work');
  const worker = openWorker({
    databaseUrl,
    secretKeys: { current: api.secretKey, others: [] },
    config: api.config,
    log: createLog('silent', 'work'),
    metrics,
  });
  await waitFor(() => worker.isReady());
  const sumOf = async (counter: typeof metrics.jobRetries) =>
    (await counter.get()).values.reduce((sum, { value }) => sum + value, 0);
  return {
    ...worker,
    /** The number of failed attempts. */
    failures: () => sumOf(metrics.jobRetries),
    /** The number of jobs whose lease had expired. */
    takenOver: () => sumOf(metrics.jobsStalled),
    [Symbol.asyncDispose]: async () => void (await worker.close()),
  };
}

/** A producer in addition to that of the API. */
async function startProducer(api: TestApi): Promise<Producer & AsyncDisposable> {
  const target = { databaseUrl: api.database.url, redisUrl: api.config.REDIS_URL };
  const producer = openProducer(target, api.config, createLog('silent', 'test'), createMetrics('serve'));
  await waitFor(() => producer.health().reachable);
  return { ...producer, [Symbol.asyncDispose]: producer.close };
}

/** Adds jobs of one answer each to the queue. */
async function enqueue(producer: Producer, jobs: number): Promise<void> {
  for (let job = 0; job < jobs; job++) await producer.enqueue([anAcceptedAnswer()], 100);
}

const countDelayed = async ({ database, config }: TestApi): Promise<number> => {
  const connection = connectQueue(
    { databaseUrl: database.url, redisUrl: config.REDIS_URL },
    createLog('silent', 'test'),
  );
  try {
    const { redis } = connection;
    if (redis) await waitFor(() => redis.status === 'ready');
    return await connection.queue().getDelayedCount();
  } finally {
    await connection.close();
  }
};

const countStored = async (api: TestApi): Promise<number> => {
  const [row] = await api.database.query<{ count: string }>('select count(*) from answers');
  return Number(row?.count);
};

/** More than a worker holds at once. */
const BACKLOG = 60;

describe.each(backends())('with the queue in %s', backend => {
  test('a backlog is stored when the database is back, and none of its jobs was delayed', async () => {
    await using api = await createApi({ backend });
    await using database = await createProxy(api.database.url);
    await using worker = await startWorker(api, database.through(api.database.url));
    await using producer = await startProducer(api);
    database.cut();
    await enqueue(producer, BACKLOG);
    if (backend === 'valkey') await waitFor(async () => (await worker.failures()) > 10); // in PostgreSQL no job is fetched
    expect(await countDelayed(api)).toBe(0);
    database.mend();
    await waitFor(async () => (await countStored(api)) === BACKLOG);
  }, 300_000);
});

describe.skipIf(!backends().includes('valkey'))('with the queue in valkey', () => {
  test('jobs that a worker holds during an outage go to another one as soon as it stops', async () => {
    await using api = await createApi({ backend: 'valkey' });
    await using database = await createProxy(api.database.url);
    await using cutOff = await startWorker(api, database.through(api.database.url));
    await using producer = await startProducer(api);
    database.cut();
    await enqueue(producer, 10);
    await waitFor(async () => (await cutOff.failures()) > 10);
    await using other = await startWorker(api, api.database.url);
    expect(await countStored(api)).toBe(0);
    expect(await cutOff.close()).toBe(true);
    await waitFor(async () => (await countStored(api)) === 10);
    expect(await other.takenOver()).toBe(0); // no job waited for the end of its lease
  });
});
