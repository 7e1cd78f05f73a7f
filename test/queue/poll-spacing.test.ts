import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { PostgresQueueBackend, RedisQueueBackend } from 'bullmq';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { connectQueue } from '../../src/queue/connection.ts';
import { KEPT_UNTIL_DONE } from '../../src/queue/isolation.ts';
import { QUEUES } from '../../src/queue/jobs.ts';
import { createPollSpacing, POLL_SPACING_MS } from '../../src/queue/poll-spacing.ts';
import { openQueueConsumer } from '../../src/queue/queue-consumer.ts';
import { backends, createApi, waitFor } from '../support/api.ts';

afterEach(() => vi.restoreAllMocks());

/** The part of BullMQ's worker that is controlled. */
function createWorkerStub() {
  const stub = {
    concurrency: 50,
    closing: undefined,
    backend: { waitForJob: async () => ({ member: '', score: 0 }) },
  };
  return { stub, worker: stub as unknown as Parameters<typeof createPollSpacing>[0] };
}

test('a worker takes at most one job during the pause between two polls, and as many as allowed after it', async () => {
  const { stub, worker } = createWorkerStub();
  const pace = createPollSpacing(worker);
  await stub.backend.waitForJob();
  const next = stub.backend.waitForJob(); // starts with a pause, because it is too early
  expect(stub.concurrency).toBe(1);
  pace.setConcurrency(20);
  expect(stub.concurrency).toBe(1);
  await next;
  expect(stub.concurrency).toBe(20);
});

describe.each(backends())('a worker of the queue in %s', backend => {
  const { prototype } = backend === 'valkey' ? RedisQueueBackend : PostgresQueueBackend;

  async function openQueue(process: (flush: string) => Promise<void>) {
    const api = await createApi({ backend });
    const log = createLog('silent', 'test');
    const target = { databaseUrl: api.database.url, redisUrl: api.config.REDIS_URL };
    const connection = connectQueue(target, log);
    if (connection.redis) await waitFor(() => connection.redis?.status === 'ready');
    const line = await openQueueConsumer(
      { target, queue: QUEUES.answers, concurrency: 50, process: job => process(job.id ?? '') },
      { log, metrics: createMetrics('work'), signal: new AbortController().signal },
    );
    const queue = connection.queue();
    let closed: Promise<void> | undefined;
    const close = () => {
      closed ??= line?.close();
      return closed;
    };
    return {
      add: (id: string) =>
        queue.add('answers.record', { v: 1, flush: id, answers: [] }, { ...KEPT_UNTIL_DONE, jobId: id }),
      count: () => queue.count(),
      close,
      async [Symbol.asyncDispose]() {
        await close();
        await connection.close();
        await api[Symbol.asyncDispose]();
      },
    };
  }

  test('takes jobs that arrive one by one together: it polls no more often than its spacing', async () => {
    const looks = vi.spyOn(prototype, 'waitForJob');
    const takes = vi.spyOn(prototype, 'moveToActive');
    const done: string[] = [];
    await using queue = await openQueue(async id => void done.push(id));
    const startedAt = performance.now();
    const ids = Array.from({ length: 200 }, (_, index) => `job-${index}`);
    for (const id of ids) {
      await queue.add(id);
      await sleep(3);
    }
    await waitFor(() => done.length === ids.length);
    expect(looks.mock.calls.length).toBeLessThanOrEqual((performance.now() - startedAt) / POLL_SPACING_MS + 3);
    expect(takes.mock.calls.length).toBeLessThan(ids.length); // most jobs are returned by the completion of another one
    expect(done.toSorted()).toEqual(ids.toSorted());
    await waitFor(async () => (await queue.count()) === 0);
  });

  test('takes no more jobs once it is closed between two polls', async () => {
    const looks = vi.spyOn(prototype, 'waitForJob');
    const takes = vi.spyOn(prototype, 'moveToActive');
    /** Whether the worker's last attempt to take a job found no job. */
    const hasFoundNone = () => {
      const last = takes.mock.settledResults.at(-1);
      return last?.type === 'fulfilled' && !last.value[0];
    };
    const done: string[] = [];
    const released = Promise.withResolvers<void>();
    await using queue = await openQueue(id => {
      done.push(id);
      return released.promise;
    });
    await waitFor(() => looks.mock.calls.length === 1);
    vi.spyOn(performance, 'now').mockReturnValue(performance.now()); // makes the next poll early, even on a slow machine
    await queue.add('first');
    while (done.length === 0 || !hasFoundNone()) await turn(); // the completion of the last job starts the pause between two polls
    const closed = queue.close();
    await queue.add('second');
    released.resolve();
    await closed;
    expect(done).toEqual(['first']);
    expect(await queue.count()).toBe(1);
  });

  test('polls again soon after the store has rejected it', async () => {
    const refusal = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const takes = vi.spyOn(prototype, 'moveToActive').mockRejectedValueOnce(refusal);
    const done: string[] = [];
    await using queue = await openQueue(async id => void done.push(id));
    await waitFor(() => takes.mock.calls.length === 1);
    await queue.add('first');
    await waitFor(() => done.length === 1, 10_000); // BullMQ's own next poll would be after 15 s
  });
});
