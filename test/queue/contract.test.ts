import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { connectQueue } from '../../src/queue/connection.ts';
import { openConsumer } from '../../src/queue/consumer.ts';
import { type Handlers, JOBS, type JobName, type RecordAnswers } from '../../src/queue/jobs.ts';
import { backends, createApi, waitFor } from '../support/api.ts';
import { anAcceptedAnswer } from '../support/make.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures');
const fixtures = readdirSync(FIXTURES);

/** A payload of some release. The file name starts with the job name. */
const load = (file: string): { job: JobName; payload: RecordAnswers } => ({
  job: file.split('.').slice(0, 2).join('.') as JobName,
  payload: JSON.parse(readFileSync(join(FIXTURES, file), 'utf8')),
});

describe('a payload of the queue', () => {
  test('of every job has a fixture', () => {
    expect(new Set(fixtures.map(file => load(file).job))).toEqual(new Set(Object.keys(JOBS)));
  });

  test.each(fixtures)('as in %s is still read completely', file => {
    const { job, payload } = load(file);
    expect(JOBS[job].parse(payload)).toEqual(payload);
  });

  test('may have fields of a newer API, which an older worker ignores', () => {
    const { payload } = load('answers.record.v1.json');
    const answers = payload.answers.map(answer => ({ ...answer, newer: 1 }));
    expect(JOBS['answers.record'].parse({ ...payload, newer: 1, answers })).toEqual(payload);
  });

  test('of another version, or without one, is not read as this version', () => {
    const { payload } = load('answers.record.v1.json');
    expect(JOBS['answers.record'].safeParse({ ...payload, v: 2 }).success).toBe(false);
    expect(JOBS['answers.record'].safeParse({ ...payload, v: undefined }).success).toBe(false);
  });
});

describe.each(backends())('with the queue in %s', backend => {
  test('a job with an unknown name or version waits for a newer worker, and other jobs are processed', async () => {
    await using api = await createApi({ backend });
    const log = createLog('silent', 'test');
    const target = { databaseUrl: api.database.url, redisUrl: api.config.REDIS_URL };
    const connection = connectQueue(target, log);
    if (connection.redis) await waitFor(() => connection.redis?.status === 'ready');
    const queue = connection.queue();
    const options = { attempts: 1_000_000_000, backoff: { type: 'outage' }, removeOnComplete: true };
    const payload = (): RecordAnswers => ({ v: 1, flush: v7(), answers: [anAcceptedAnswer()] });
    const newer = await queue.add('answers.record', { ...payload(), v: 2 } as unknown as RecordAnswers, options);
    const unknown = await queue.add('answers.rewrite', payload(), options);
    const known = payload();
    await queue.add('answers.record', known, options);

    const done: string[] = [];
    const stop = new AbortController();
    const never = async () => expect.unreachable();
    const handlers: Handlers = {
      'answers.record': async ({ flush }) => void done.push(flush),
      'answers.isolated': never,
    };
    const metrics = createMetrics('work');
    const consumer = await openConsumer(
      target,
      handlers,
      { recordInSandbox: never, quarantine: never },
      { log, metrics, signal: stop.signal },
    );
    await waitFor(async () => (await queue.getJobCounts('delayed')).delayed === 2);
    await waitFor(() => done.length > 0);
    await consumer?.close();
    expect(done).toEqual([known.flush]);
    for (const job of [newer, unknown]) {
      const kept = await queue.getJob(job.id as string);
      expect(kept?.data).toEqual(job.data);
      expect(kept?.attemptsMade).toBeGreaterThan(0);
    }
    expect((await queue.getJobCounts('failed')).failed).toBe(0);
    await connection.close();
  });
});
