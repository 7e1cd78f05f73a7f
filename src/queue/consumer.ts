import type { Redis } from 'ioredis';
import { createGroupCommit } from '../platform/group-commit.ts';
import { createThrottle, type Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Spans } from '../platform/spans.ts';
import { createFlushProcess, createIsolatedProcess, type SuspectHandlers, UnknownJob } from './answer-jobs.ts';
import { type ActiveJob, connectQueue, type QueueConnection, type QueueTarget } from './connection.ts';
import { type Handlers, QUEUES, type QueueName } from './jobs.ts';
import { isOutage } from './outage-backoff.ts';
import { removePending } from './pending-redis.ts';
import { POLL_SPACING_MS } from './poll-spacing.ts';
import { openQueueConsumer, type QueueConsumer, type QueueConsumerOptions } from './queue-consumer.ts';
import { traced } from './traces.ts';

/** Jobs that one worker process holds at once. Their answers are stored together. */
const CONCURRENCY = 50;
/** Jobs removed from the registry of pending answers at once. */
const MOST_REMOVED = 500;
export interface Consumer {
  /** Stops consuming, finishes the jobs in progress, then closes the connections. */
  close(): Promise<void>;
}

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

  const registry = openRemoval(connection, log);
  const unregister = (job: ActiveJob) => registry.remove(job.id);
  const flows: Flow[] = [
    {
      queue: QUEUES.answers,
      concurrency: CONCURRENCY,
      process: createFlushProcess(connection, handlers, suspects, log),
      whenDone: unregister,
    },
    {
      queue: QUEUES.isolation,
      concurrency: 1,
      process: createIsolatedProcess(handlers, suspects),
      whenDone: unregister,
    },
  ];
  const consumers = await Promise.all(
    flows.map(({ queue, concurrency, ...flow }) =>
      openQueueConsumer({ target, queue, concurrency, process: watch(deps, queue, flow) }, deps),
    ),
  );
  const close = () => closeAll(consumers, registry, connection);
  if (consumers.every(consumer => consumer !== undefined)) return { close };
  await close();
  return undefined;
}

type Outcome = 'done' | 'isolated' | 'given-up';

/** How the jobs of a queue are processed. */
interface Flow extends Pick<QueueConsumerOptions, 'queue' | 'concurrency'> {
  process(job: ActiveJob): Promise<Outcome>;
  /** Called when a job's answers are stored or quarantined. */
  whenDone?(job: ActiveJob): void;
}

/** Measures and reports the outcome of each job. */
function watch(
  { log, metrics, spans }: { log: Log; metrics: Metrics; spans?: Spans | undefined },
  queue: QueueName,
  { process, whenDone }: Pick<Flow, 'process' | 'whenDone'>,
) {
  const throttle = createThrottle(5000);

  /** Logs an outage or an unknown job as one throttled line, and any other error as a bug with its stack. */
  const report = (jobId: string | undefined, error: unknown) => {
    const passing = isOutage(error);
    throttle(passing ? error.code : String(error), held => {
      const fields = { queue, job: jobId, held_back: held };
      if (passing) log.warn({ ...fields, reason: error.message }, 'job waits for an unavailable store');
      else if (error instanceof UnknownJob)
        log.warn({ ...fields, reason: error.message }, 'job waits for a newer worker');
      else log.error({ ...fields, err: error }, 'job failed; will retry');
    });
  };

  return traced(spans, queue, async (job): Promise<void> => {
    const startedAt = performance.now();
    let outcome: Outcome | 'retried' = 'retried';
    try {
      outcome = await process(job);
      if (outcome !== 'isolated') whenDone?.(job);
    } catch (error) {
      metrics.jobRetries.inc({ queue });
      report(job.id, error);
      throw error;
    } finally {
      metrics.jobDuration.observe({ queue, outcome }, (performance.now() - startedAt) / 1000);
    }
  });
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
