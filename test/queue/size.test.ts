import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/platform/config.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { openProducer, type Producer } from '../../src/queue/producer.ts';
import { askValkey, openValkey } from '../faults/stores.ts';
import { backends } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { anAcceptedAnswer } from '../support/make.ts';
import { waitFor } from '../support/wait.ts';

const MAX_MB = 16;
const COMMENT_BYTES = 4000;

function openTestProducer(databaseUrl: string, redisUrl: string | undefined): Producer & AsyncDisposable {
  const config = loadConfig({
    DATABASE_URL: databaseUrl,
    SECRET_KEY: Buffer.alloc(32).toString('base64'),
    QUEUE_MAX_MB: String(MAX_MB),
    ...(redisUrl && { REDIS_URL: redisUrl }),
  });
  const producer = openProducer({ databaseUrl, redisUrl }, config, createLog('silent', 'test'), createMetrics('serve'));
  return { ...producer, [Symbol.asyncDispose]: () => producer.close() };
}

/** Incompressible text. */
const noise = () =>
  Array.from({ length: COMMENT_BYTES / 10 }, () => Math.random().toString(36).slice(2, 12).padEnd(10, '0')).join('');

/** Several checks of the store, each of which resets the count of bytes added since the previous one. */
const FULL_FOR_MS = 3000;

/** The error code of a flush of 100 answers; `undefined` if it is accepted. */
const add = (producer: Producer): Promise<string | undefined> => {
  const answers = Array.from({ length: 100 }, () => anAcceptedAnswer({ comment: noise() }));
  return producer.enqueue(answers, 100 * COMMENT_BYTES).then(
    () => undefined,
    (error: Error) => error.message,
  );
};

/** Adds flushes until all are rejected for 3 s. Returns the accepted megabytes. */
async function fill(producer: Producer): Promise<number> {
  await waitFor(() => producer.health().reasons.length === 0);
  const isTaken = async () => (await add(producer)) === undefined;
  for (let flushes = 0; ; flushes++) {
    const isFull = await waitFor(isTaken, FULL_FOR_MS).then(
      () => false,
      () => true,
    );
    if (isFull) return (flushes * 100 * COMMENT_BYTES) / 1024 / 1024;
  }
}

describe('a queue', { timeout: 240_000 }, () => {
  test.runIf(backends().includes('valkey'))('in a Valkey without maxmemory is bounded by QUEUE_MAX_MB', async () => {
    await using store = await openValkey();
    await using producer = openTestProducer('postgresql://nobody@127.0.0.1:1/none', store.url);
    const megabytes = await fill(producer);
    expect(megabytes).toBeGreaterThan(MAX_MB * 0.5);
    expect(megabytes).toBeLessThan(MAX_MB * 1.2);
    expect(await add(producer)).toMatch(/reached its size limit|of at most 16 MB/);
    await askValkey(store.url, redis => redis.config('SET', 'maxmemory', String(1024 ** 3)));
    await waitFor(() => producer.health().reasons.length === 0);
  });

  test('in PostgreSQL is bounded by QUEUE_MAX_MB, and accepts answers again once the backlog is gone', async () => {
    await using database = await createDatabase();
    await using producer = openTestProducer(database.url, undefined);
    const megabytes = await fill(producer);
    expect(megabytes).toBeGreaterThan(MAX_MB * 0.5);
    expect(megabytes).toBeLessThan(MAX_MB * 1.2);
    expect(await add(producer)).toMatch(/reached its size limit|of at most 16 MB/);
    await database.query('delete from bullmq.job'); // the table keeps its size on disk
    await waitFor(async () => (await add(producer)) === undefined);
  });
});
