import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Problem } from '../../src/domain/problem.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { connectQueue, migrateQueue } from '../../src/queue/connection.ts';
import { KEPT_UNTIL_DONE } from '../../src/queue/isolation.ts';
import { createJobLeases } from '../../src/queue/job-leases.ts';
import { QUEUES } from '../../src/queue/jobs.ts';
import { openQueueConsumer, retryDelay, sustainableConcurrency } from '../../src/queue/queue-consumer.ts';
import { createDatabase } from '../support/database.ts';
import { waitFor } from '../support/wait.ts';

describe('the delay before the next attempt', () => {
  test('doubles from a second to a minute', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 100].map(attempts => retryDelay(attempts, () => 0.5) / 1000);
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });

  test('is spread by a fifth to either side', () => {
    expect(retryDelay(7, () => 0)).toBe(48_000);
    expect(retryDelay(7, () => 1)).toBe(72_000);
  });

  test('is an integer number of milliseconds for any number of attempts', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000_000 }), attempts => {
        const delay = retryDelay(attempts);
        expect(Number.isInteger(delay) && delay >= 800 && delay <= 72_000).toBe(true);
      }),
    );
  });
});

describe('the number of jobs held at once', () => {
  test('is the requested number while taking a job is fast, and lower the longer it takes', () => {
    expect([0, 1, 100, 250, 1000, 5000, 60_000].map(tookMs => sustainableConcurrency(tookMs, 50))).toEqual([
      50, 50, 50, 20, 5, 1, 1,
    ]);
    expect(sustainableConcurrency(1, 1)).toBe(1);
  });

  test('allows taking all in sequence within half the time of a lock', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 50 }), (tookMs, most) => {
        expect(sustainableConcurrency(tookMs, most) * tookMs).toBeLessThanOrEqual(5000);
      }),
    );
  });
});

describe('a job that another worker has taken over', () => {
  test('is lost for its former worker, and for the current one only when that one loses it too', () => {
    const leases = createJobLeases();
    const first = leases.acquire('a');
    const second = leases.acquire('a');
    expect([first.isLost(), second.isLost()]).toEqual([true, false]);
    first.end();
    leases.markLost(['a', 'unknown']);
    expect(second.isLost()).toBe(true);
    second.end();
    expect(leases.acquire('a').isLost()).toBe(false);
  });

  test('is released although an outage delays it', async () => {
    await using database = await createDatabase();
    const target = { databaseUrl: database.url, redisUrl: undefined };
    await migrateQueue(target);
    const log = createLog('silent', 'test');
    const connection = connectQueue(target, log);
    await connection
      .queue()
      .add('answers.record', { v: 1, flush: 'a', answers: [] }, { ...KEPT_UNTIL_DONE, jobId: 'a' });
    let tries = 0;
    const line = await openQueueConsumer(
      {
        target,
        queue: QUEUES.answers,
        concurrency: 1,
        async process() {
          tries++;
          throw new Problem('database-unavailable', 'It is away.');
        },
      },
      { log, metrics: createMetrics('work'), signal: new AbortController().signal },
    );
    await waitFor(() => tries > 2);
    await database.query("update bullmq.job set lock_token = 'another', locked_until_ms = locked_until_ms + 3600000");
    await waitFor(async () => {
      const before = tries;
      await new Promise(resolve => setTimeout(resolve, 2000)); // the maximum pause between two attempts is 1 s
      return tries === before;
    }, 300_000);
    const [job] = await database.query<{ lock_token: string }>('select lock_token from bullmq.job');
    expect(job?.lock_token).toBe('another');
    await line?.close();
    await connection.close();
  }, 300_000);

  test('is counted, and delivered again', async () => {
    await using database = await createDatabase();
    const target = { databaseUrl: database.url, redisUrl: undefined };
    await migrateQueue(target);
    const log = createLog('silent', 'test');
    const metrics = createMetrics('work');
    const connection = connectQueue(target, log);
    let deliveries = 0;
    const options = {
      target,
      queue: QUEUES.answers,
      concurrency: 1,
      process: async () => void deliveries++,
    };
    const job = { ...KEPT_UNTIL_DONE, jobId: 'a' };
    await connection.queue().add('answers.record', { v: 1, flush: 'a', answers: [] }, job);
    await database.query(
      "update bullmq.job set state = 'active', lock_token = 'of a dead worker', locked_until_ms = 1",
    );
    const consumer = await openQueueConsumer(options, { log, metrics, signal: new AbortController().signal });
    await waitFor(() => deliveries === 1);
    expect(await metrics.render()).toContain('parley_jobs_stalled_total{queue="answers"} 1');
    await consumer?.close();
    await connection.close();
  });
});
