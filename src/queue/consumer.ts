import type { Redis } from 'ioredis';
import { Problem } from '../domain/problem.ts';
import { createGroupCommit } from '../platform/group-commit.ts';
import { createThrottle, type Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Spans } from '../platform/spans.ts';
import { type ActiveJob, connectQueue, type QueueConnection, type QueueTarget } from './connection.ts';
import { ISOLATED, isIsolated, isolate, isSuspected, KEPT_UNTIL_DONE } from './isolation.ts';
import {
  type Handlers,
  type IsolatedAnswer,
  JOBS,
  type JobName,
  type JobPayload,
  QUEUES,
  type QueueName,
  type RecordAnswers,
} from './jobs.ts';
import { isOutage } from './outage-backoff.ts';
import { entryOfPart } from './pending.ts';
import { addCounted, type CountedJob, removePending } from './pending-redis.ts';
import { POLL_SPACING_MS } from './poll-spacing.ts';
import { openQueueConsumer, type QueueConsumer } from './queue-consumer.ts';
import { traced } from './traces.ts';

/** Jobs that one worker process holds at once. Their answers are stored together. */
const CONCURRENCY = 50;
/** Jobs removed from the registry of pending answers at once. */
const MOST_REMOVED = 500;
/** After this many failures, the last of them not an outage, the answers of a flush are processed one by one. */
const SUSPECT_FAILURES = 5;
/** After this many failures in isolation, outages not counted, an answer goes to the quarantine. */
const MAX_ISOLATED_FAILURES = 2;

/** Handles flushes and answers that may kill, hang or fail their workers. */
export interface SuspectHandlers {
  /** Stores a whole flush in a separate process. Rejects as a handler does. */
  recordInSandbox(flush: RecordAnswers): Promise<void>;
  /** Moves an answer that cannot be processed to the quarantine, with a readable reason. */
  quarantine(answer: IsolatedAnswer, reason: string): Promise<void>;
}

export interface Consumer {
  /** Stops consuming, finishes the jobs in progress, then closes the connections. */
  close(): Promise<void>;
}

/** A job for a newer worker. */
class UnknownJob extends Error {}

/** Whether the payload may be the cause: not an outage, and not a payload for a newer worker. */
const blamesPayload = (error: unknown): boolean => !(error instanceof UnknownJob) && !isOutage(error);

/**
 * Passes every job to its handler. Failed jobs are retried until they succeed.
 *
 * A flush whose workers keep dying is stored in the sandbox process. If it fails there as well, or keeps failing, it is
 * isolated: its answers move to a separate queue and are processed one at a time. An answer that fails there goes to
 * the quarantine. Outages never cause that.
 *
 * Resolves when jobs are being consumed. Waits for an unreachable store until the signal is aborted.
 */
export async function openConsumer(
  target: QueueTarget,
  handlers: Handlers,
  suspects: SuspectHandlers,
  deps: { log: Log; metrics: Metrics; signal: AbortSignal; spans?: Spans | undefined },
): Promise<Consumer | undefined> {
  const { log } = deps;
  const connection = connectQueue(target, log);

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

  const processFlush = async (job: ActiveJob): Promise<Outcome> => {
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

  const processIsolated = async (job: ActiveJob): Promise<Outcome> => {
    try {
      await dispatch(handlers, job);
      return 'done';
    } catch (error) {
      if (!blamesPayload(error)) throw error;
      const failures = ((job.progress as { failures?: number })?.failures ?? 0) + 1;
      await job.updateProgress({ failures });
      if (failures < MAX_ISOLATED_FAILURES) throw error;
      await suspects.quarantine(read(job, 'answers.isolated'), String(error));
      return 'given-up';
    }
  };

  const registry = openRemoval(connection, log);
  const watched = watch(deps, job => registry.remove(job.id));
  const consumers = await Promise.all([
    openQueueConsumer(
      { target, queue: QUEUES.answers, concurrency: CONCURRENCY, process: watched('answers', processFlush) },
      deps,
    ),
    openQueueConsumer(
      { target, queue: QUEUES.isolation, concurrency: 1, process: watched('isolation', processIsolated) },
      deps,
    ),
  ]);
  const close = () => closeAll(consumers, registry, connection);
  if (consumers.every(consumer => consumer !== undefined)) return { close };
  await close();
  return undefined;
}

type Outcome = 'done' | 'isolated' | 'given-up';

/** Measures and reports the outcome of each job. */
function watch(
  { log, metrics, spans }: { log: Log; metrics: Metrics; spans?: Spans | undefined },
  whenStored: (job: ActiveJob) => void,
) {
  const throttle = createThrottle(5000);

  /** Logs an outage as one throttled line, and any other error as a bug with its stack. */
  const report = (queue: QueueName, jobId: string | undefined, error: unknown) => {
    const passing = isOutage(error);
    throttle(passing ? error.code : String(error), held => {
      const fields = { queue, job: jobId, held_back: held };
      if (passing) log.warn({ ...fields, reason: error.message }, 'job waits for an unavailable store');
      else log.error({ ...fields, err: error }, 'job failed; will retry');
    });
  };

  return (queue: QueueName, process: (job: ActiveJob) => Promise<Outcome>) =>
    traced(spans, queue, async (job): Promise<void> => {
      const startedAt = performance.now();
      let outcome: Outcome | 'retried' = 'retried';
      try {
        outcome = await process(job);
        if (outcome !== 'isolated') whenStored(job);
      } catch (error) {
        metrics.jobRetries.inc({ queue });
        report(queue, job.id, error);
        throw error;
      } finally {
        metrics.jobDuration.observe({ queue, outcome }, (performance.now() - startedAt) / 1000);
      }
    });
}

/** Adds the answers of a flush to the isolation queue atomically, and counts them in place of the flush. */
async function addParts({ queue, redis }: QueueConnection, jobs: CountedJob[], flush: string | undefined) {
  if (redis) await addCounted(redis, queue(QUEUES.isolation), jobs, flush);
  else await queue(QUEUES.isolation).addBulk(jobs.map(({ name, data, opts }) => ({ name, data, opts })));
}

/**
 * Removes stored jobs from the registry of pending answers, in batches. Jobs do not wait for it.
 *
 * Readers of the registry recognise a leftover entry as stored, and a repair removes it. In PostgreSQL a trigger
 * removes the entries.
 */
function openRemoval({ redis }: QueueConnection, log: Log) {
  const throttle = createThrottle(5000);
  const group = createGroupCommit<string, undefined>({
    async flush(ids) {
      await removePending(redis as Redis, ids);
      return ids.map(() => undefined);
    },
    maxInFlight: 1,
    spacingMs: POLL_SPACING_MS,
    weigh: () => [1],
    maxWeights: [MOST_REMOVED],
  });
  const report = (error: Error) =>
    throttle(error.message, () =>
      log.warn({ reason: error.message }, 'could not remove stored answers from the pending registry; will retry'),
    );
  return {
    remove(id: string | undefined): void {
      if (redis && id) group.add(id).catch(report);
    },
    drained: group.drained,
  };
}

async function closeAll(
  consumers: (QueueConsumer | undefined)[],
  registry: { drained(): Promise<void> },
  connection: { close(): Promise<void> },
): Promise<void> {
  const ended = await Promise.allSettled(consumers.map(consumer => consumer?.close()));
  await registry.drained();
  await connection.close();
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
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
