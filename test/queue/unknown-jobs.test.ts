import { v7 } from 'uuid';
import { expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { createFlushProcess, createIsolatedProcess, UnknownJob } from '../../src/queue/answer-jobs.ts';
import type { ActiveJob, JobData, QueueConnection } from '../../src/queue/connection.ts';
import { isolate } from '../../src/queue/isolation.ts';
import type { Handlers } from '../../src/queue/jobs.ts';
import { anAcceptedAnswer } from '../support/make.ts';

const never = async () => expect.unreachable();
const handlers: Handlers = { 'answers.record': never, 'answers.isolated': never };
const suspects = { recordInSandbox: never, quarantine: never };
const connection = { queue: () => expect.unreachable(), redis: undefined } as unknown as QueueConnection;

/** A job of a newer version that failed often and whose workers died often, as an older worker gets it. */
const aJob = (name: string, data: object): ActiveJob => ({
  id: v7(),
  name,
  data: { ...data, v: 2 } as unknown as JobData,
  processedOn: undefined,
  attemptsMade: 100,
  stalledCounter: 3,
  progress: 0,
  updateProgress: never,
});

const flush = { v: 1 as const, flush: v7(), answers: [anAcceptedAnswer()] };

test.each([
  ['flush', createFlushProcess(connection, handlers, suspects, createLog('silent', 'test')), 'answers.record', flush],
  ['isolated answer', createIsolatedProcess(handlers, suspects), 'answers.isolated', isolate(flush)[0] as object],
])(
  'a %s of a newer version is neither isolated, quarantined nor counted as failed',
  async (_kind, process, name, data) => {
    await expect(process(aJob(name, data))).rejects.toBeInstanceOf(UnknownJob);
    await expect(process({ ...aJob('newer', data), stalledCounter: 0 })).rejects.toBeInstanceOf(UnknownJob);
  },
);
