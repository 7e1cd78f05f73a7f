import { setTimeout as sleep } from 'node:timers/promises';
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
  const failures = async () => {
    const { values } = await metrics.jobRetries.get();
    return values.reduce((sum, { value }) => sum + value, 0);
  };
  return { ...worker, failures, [Symbol.asyncDispose]: async () => void (await worker.close()) };
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
    await waitFor(() => connection.redis?.status === 'ready');
    return await connection.queue().getDelayedCount();
  } finally {
    await connection.close();
  }
};

const countStored = async (api: TestApi): Promise<number> => {
  const [row] = await api.database.query<{ count: string }>('select count(*) from answers');
  return Number(row?.count);
};

describe.each(backends())('with the queue in %s', backend => {
  test('a backlog is stored as soon as the database is back, after any outage', async () => {
    await using api = await createApi({ backend });
    await using database = await createProxy(api.database.url);
    await using worker = await startWorker(api, database.through(api.database.url));
    await using producer = await startProducer(api);
    database.cut();
    await enqueue(producer, 200);
    await sleep(8000); // long enough that jobs delayed after each failure would wait for seconds
    if (backend === 'valkey') {
      expect(await worker.failures()).toBeGreaterThan(5);
      expect(await countDelayed(api)).toBe(0);
    }
    database.mend();
    const back = Date.now();
    await waitFor(async () => (await countStored(api)) === 200);
    expect(Date.now() - back).toBeLessThan(6500); // less than the 7 s that are left of BullMQ's pause of 15 s
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
    await using _other = await startWorker(api, api.database.url);
    expect(await countStored(api)).toBe(0);
    const stopped = Date.now();
    expect(await cutOff.close()).toBe(true);
    await waitFor(async () => (await countStored(api)) === 10);
    expect(Date.now() - stopped).toBeLessThan(9000); // less than the 10 s of a job's lease
  });
});
