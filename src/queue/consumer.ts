import type { Redis } from 'ioredis';
import { Problem } from '../domain/problem.ts';
import { createGroupCommit } from '../platform/group-commit.ts';
import { createThrottle, type Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Spans } from '../platform/spans.ts';
import { connectQueue, type HeldJob, type QueueConnection, type QueueTarget } from './connection.ts';
import { isOutage } from './hold.ts';
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
import { type Line, openLine } from './line.ts';
import { PACE_MS } from './pace.ts';
import { entryOfPart } from './pending.ts';
import { addCounted, type CountedJob, removePending } from './pending-redis.ts';
import { traced } from './traces.ts';

/** How many jobs one worker process holds at once; their answers are stored together. */
const CONCURRENCY = 50;
/** How many jobs are removed from the registry of pending answers at once. */
const MOST_REMOVED = 500;
/** A flush that failed this often, the last time for no outage, is dealt with answer by answer. */
const SUSPECT_FAILURES = 5;
/** An answer that failed alone this often, and never for an outage, goes to the quarantine. */
const MAX_FAILURES_ALONE = 2;

/** What is done with flushes and answers that may be what kills, hangs or fails their workers. */
export interface Suspects {
  /** Stores a whole flush where it can harm nothing else. Rejects as a handler does. */
  recordAlone(flush: RecordAnswers): Promise<void>;
  /** Puts an answer that fails by itself out of the way, with the reason for people. */
  giveUp(answer: IsolatedAnswer, reason: string): Promise<void>;
}

export interface Consumer {
  /** Takes no further jobs, ends those under way, then the connections. */
  close(): Promise<void>;
}

/** A job that a newer worker has to do. */
class UnknownJob extends Error {}

/** Whether it may be the payload's fault: neither an outage, nor a payload that a newer worker knows. */
const blamesPayload = (error: unknown): boolean => !(error instanceof UnknownJob) && !isOutage(error);

/**
 * Hands every job to its handler; a job whose handler fails is tried again until it succeeds.
 *
 * A flush whose workers keep dying is stored alone; one that dies or fails there too, or keeps failing, is isolated: its
 * answers go to a queue of their own, where a process deals with one at a time. What fails there by itself is given up; an
 * outage gives nothing up.
 *
 * Resolves when jobs are being taken; waits for a store that is away until the signal ends the waiting.
 */
export async function openConsumer(
  target: QueueTarget,
  handlers: Handlers,
  suspects: Suspects,
  deps: { log: Log; metrics: Metrics; signal: AbortSignal; spans?: Spans | undefined },
): Promise<Consumer | undefined> {
  const { log } = deps;
  const connection = connectQueue(target, log);

  /** Makes sure that each answer of a flush is in the isolation; then the flush itself is done. */
  const moveToIsolation = async (job: HeldJob): Promise<void> => {
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

  const processFlush = async (job: HeldJob): Promise<Outcome> => {
    const suspected = isSuspected(job);
    if (!isIsolated(job)) {
      try {
        await (suspected ? suspects.recordAlone(read(job, 'answers.record')) : dispatch(handlers, job));
        return 'done';
      } catch (error) {
        if (!blamesPayload(error) || (!suspected && job.attemptsMade + 1 < SUSPECT_FAILURES)) throw error;
      }
    }
    await moveToIsolation(job);
    return 'isolated';
  };

  const processAlone = async (job: HeldJob): Promise<Outcome> => {
    try {
      await dispatch(handlers, job);
      return 'done';
    } catch (error) {
      if (!blamesPayload(error)) throw error;
      const failures = ((job.progress as { failures?: number })?.failures ?? 0) + 1;
      await job.updateProgress({ failures });
      if (failures < MAX_FAILURES_ALONE) throw error;
      await suspects.giveUp(read(job, 'answers.isolated'), String(error));
      return 'given-up';
    }
  };

  const registry = openRemoval(connection, log);
  const watched = watch(deps, job => registry.remove(job.id));
  const lines = await Promise.all([
    openLine(
      { target, queue: QUEUES.answers, concurrency: CONCURRENCY, process: watched('answers', processFlush) },
      deps,
    ),
    openLine({ target, queue: QUEUES.isolation, concurrency: 1, process: watched('isolation', processAlone) }, deps),
  ]);
  const close = () => closeAll(lines, registry, connection);
  if (lines.every(line => line !== undefined)) return { close };
  await close();
  return undefined;
}

type Outcome = 'done' | 'isolated' | 'given-up';

/** Measures and reports what becomes of each job. */
function watch(
  { log, metrics, spans }: { log: Log; metrics: Metrics; spans?: Spans | undefined },
  whenStored: (job: HeldJob) => void,
) {
  const throttle = createThrottle(5000);

  /** An outage is one throttled line; whatever else is a bug, told with its stack. */
  const report = (queue: QueueName, jobId: string | undefined, error: unknown) => {
    const passing = isOutage(error);
    throttle(passing ? error.code : String(error), held => {
      const told = { queue, job: jobId, held_back: held };
      if (passing) log.warn({ ...told, reason: error.message }, 'job waits for an unavailable store');
      else log.error({ ...told, err: error }, 'job failed; will retry');
    });
  };

  return (queue: QueueName, process: (job: HeldJob) => Promise<Outcome>) =>
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

/** Adds the answers of a flush to the isolation, all or none, and counts them in its place. */
async function addParts({ queue, redis }: QueueConnection, jobs: CountedJob[], flush: string | undefined) {
  if (redis) await addCounted(redis, queue(QUEUES.isolation), jobs, flush);
  else await queue(QUEUES.isolation).addBulk(jobs.map(({ name, data, opts }) => ({ name, data, opts })));
}

/**
 * Removes jobs whose answers are stored from the registry of pending answers, in groups that no job waits for.
 *
 * One that is not removed is found stored by whoever reads the registry, and removed by a repair. In PostgreSQL a trigger
 * removes them.
 */
function openRemoval({ redis }: QueueConnection, log: Log) {
  const throttle = createThrottle(5000);
  const group = createGroupCommit<string, undefined>({
    async flush(ids) {
      await removePending(redis as Redis, ids);
      return ids.map(() => undefined);
    },
    maxInFlight: 1,
    spacingMs: PACE_MS,
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
  lines: (Line | undefined)[],
  registry: { drained(): Promise<void> },
  connection: { close(): Promise<void> },
): Promise<void> {
  const ended = await Promise.allSettled(lines.map(line => line?.close()));
  await registry.drained();
  await connection.close();
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
}

/**
 * A job's payload, checked, as it came: a copy would be as much to hold until it is stored. An unknown name or version is
 * left to a worker that knows it.
 */
function read<N extends JobName>(job: Pick<HeldJob, 'name' | 'data'>, name: N): JobPayload<N> {
  const parsed = JOBS[name].safeParse(job.data);
  if (job.name !== name) throw new UnknownJob(`unknown job: ${job.name}`);
  if (!parsed.success) throw new UnknownJob(`invalid payload of ${name}: ${parsed.error.message}`);
  return job.data as JobPayload<N>;
}

async function dispatch(handlers: Handlers, job: HeldJob): Promise<void> {
  if (!Object.hasOwn(JOBS, job.name)) throw new UnknownJob(`unknown job: ${job.name}`);
  const name = job.name as JobName;
  await (handlers[name] as (payload: unknown) => Promise<void>)(read(job, name));
}
