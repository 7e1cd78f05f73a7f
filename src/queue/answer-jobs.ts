import { Problem } from '../domain/problem.ts';
import type { Log } from '../platform/log.ts';
import type { ActiveJob, QueueConnection } from './connection.ts';
import { ISOLATED, isIsolated, isolate, isSuspected, KEPT_UNTIL_DONE } from './isolation.ts';
import {
  type Handlers,
  type IsolatedAnswer,
  JOBS,
  type JobName,
  type JobPayload,
  QUEUES,
  type RecordAnswers,
} from './jobs.ts';
import { isOutage } from './outage-backoff.ts';
import { entryOfPart } from './pending.ts';
import { addCounted, type CountedJob } from './pending-redis.ts';

/** After this many failures, the last of them not an outage, the answers of a flush are processed one by one. */
const SUSPECT_FAILURES = 5;
/** After this many failures in isolation, outages not counted, an answer goes to the quarantine. */
const MAX_ISOLATED_FAILURES = 2;

/** A job of a newer version, which a worker returns to the queue for a newer worker. */
export class UnknownJob extends Error {}

/** Whether the payload or its handler may be the cause: not an outage, and not a payload for a newer worker. */
const blamesPayload = (error: unknown): boolean => !(error instanceof UnknownJob) && !isOutage(error);

/** Handles flushes and answers that may kill, hang or fail their workers. */
export interface SuspectHandlers {
  /** Stores a whole flush in a separate process. Rejects as a handler does. */
  recordInSandbox(flush: RecordAnswers): Promise<void>;
  /** Moves an answer that cannot be processed to the quarantine, with a readable reason. */
  quarantine(answer: IsolatedAnswer, reason: string): Promise<void>;
}

/**
 * Passes flushes to their handler.
 *
 * A flush whose workers keep dying is stored in the sandbox process. If it fails there as well, or keeps failing, its
 * answers move to the isolation queue.
 */
export function createFlushProcess(
  connection: QueueConnection,
  handlers: Handlers,
  suspects: SuspectHandlers,
  log: Log,
): (job: ActiveJob) => Promise<'done' | 'isolated'> {
  /** Adds each answer of a flush to the isolation queue. The flush itself is then done. */
  const moveToIsolation = async (job: ActiveJob): Promise<void> => {
    const answers = isolate(read(job, 'answers.record'));
    await job.updateProgress(ISOLATED); // first: from here on it is never stored whole
    try {
      const jobs = answers.map(data => ({
        name: 'answers.isolated',
        data,
        opts: { ...KEPT_UNTIL_DONE, jobId: data.flush },
        entry: entryOfPart(data),
      }));
      await addParts(connection, jobs, job.id);
    } catch (cause) {
      throw new Problem(
        'queue-unavailable',
        `Answers could not be moved to the isolation queue: ${(cause as Error).message}`,
        { cause },
      );
    }
    log.warn(
      { job: job.id, answers: answers.length, stalls: job.stalledCounter },
      'flush moved to the isolation queue, one job per answer',
    );
  };

  return async job => {
    const suspected = isSuspected(job);
    if (!isIsolated(job)) {
      try {
        await (suspected ? suspects.recordInSandbox(read(job, 'answers.record')) : dispatch(handlers, job));
        return 'done';
      } catch (error) {
        if (!blamesPayload(error) || (!suspected && job.attemptsMade + 1 < SUSPECT_FAILURES)) throw error;
      }
    }
    await moveToIsolation(job);
    return 'isolated';
  };
}

/** Counts a failure in the job's progress, which the queue stores. Returns the number of failures. */
async function countFailure(job: Pick<ActiveJob, 'progress' | 'updateProgress'>): Promise<number> {
  const failures = ((job.progress as { failures?: number })?.failures ?? 0) + 1;
  await job.updateProgress({ failures });
  return failures;
}

/** Passes isolated answers to their handler. One that fails twice, outages not counted, goes to the quarantine. */
export const createIsolatedProcess =
  (handlers: Handlers, suspects: SuspectHandlers) =>
  async (job: ActiveJob): Promise<'done' | 'given-up'> => {
    try {
      await dispatch(handlers, job);
      return 'done';
    } catch (error) {
      if (!blamesPayload(error)) throw error;
      if ((await countFailure(job)) < MAX_ISOLATED_FAILURES) throw error;
      await suspects.quarantine(read(job, 'answers.isolated'), String(error));
      return 'given-up';
    }
  };

/** Adds the answers of a flush to the isolation queue atomically, and counts them in place of the flush. */
async function addParts({ queue, redis }: QueueConnection, jobs: CountedJob[], flush: string | undefined) {
  if (redis) await addCounted(redis, queue(QUEUES.isolation), jobs, flush);
  else await queue(QUEUES.isolation).addBulk(jobs.map(({ name, data, opts }) => ({ name, data, opts })));
}

/**
 * Returns a job's validated payload, without copying it: a copy would double the memory until it is stored. Throws
 * `UnknownJob` for an unknown name or version, which is left to a newer worker.
 */
function read<N extends JobName>(job: Pick<ActiveJob, 'name' | 'data'>, name: N): JobPayload<N> {
  const parsed = JOBS[name].safeParse(job.data);
  if (job.name !== name) throw new UnknownJob(`unknown job: ${job.name}`);
  if (!parsed.success) throw new UnknownJob(`invalid payload of ${name}: ${parsed.error.message}`);
  return job.data as JobPayload<N>;
}

async function dispatch(handlers: Handlers, job: ActiveJob): Promise<void> {
  if (!Object.hasOwn(JOBS, job.name)) throw new UnknownJob(`unknown job: ${job.name}`);
  const name = job.name as JobName;
  await (handlers[name] as (payload: unknown) => Promise<void>)(read(job, name));
}
