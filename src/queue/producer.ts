import type { JobsOptions } from 'bullmq';
import type { AcceptedAnswer } from '../domain/answers/answers.ts';
import { numberUuid } from '../domain/ids.ts';
import { Problem } from '../domain/problem.ts';
import { retrySoon } from '../domain/retries.ts';
import type { Config } from '../platform/config.ts';
import { createGroupCommit } from '../platform/group-commit.ts';
import { createThrottle, type Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { sendTogether } from '../platform/redis.ts';
import type { Spans } from '../platform/spans.ts';
import { isTimeout, withTimeout } from '../platform/timeouts.ts';
import { connectQueue, PRODUCER_TIMEOUT_MS, type QueueConnection } from './connection.ts';
import { createFlushNumbers, type FlushClaim, type FlushNumbers } from './flush-numbers.ts';
import { type HealthWatch, watchHealth } from './health.ts';
import { KEPT_UNTIL_DONE } from './isolation.ts';
import { QUEUES, type RecordAnswers } from './jobs.ts';
import { entryOfFlush, type Pending } from './pending.ts';
import { addEntry } from './pending-redis.ts';
import { watchPending } from './pending-repair.ts';
import { confirmReplicas } from './replicas.ts';
import { findOldest, findQueued, readPending } from './snapshot.ts';
import type { Basis, ProducerTarget, QueueHealth } from './store-check.ts';
import { failureKind } from './store-failure.ts';
import { sendSpan } from './traces.ts';

const MAX_FLUSH_ANSWERS = 250;
const MAX_FLUSH_BYTES = 512 * 1024;
const MAX_FLUSHES_IN_FLIGHT = 2;
/** Memory in the store per answer besides its share of the request: ids, times, job fields, registry entry. */
const OVERHEAD_BYTES = 900;
/**
 * When a flush would have to wait longer, further answers are refused: an early refusal is better than a late reply.
 */
const MAX_WAIT_MS = 750;
/** Below the time-out of any command, to distinguish the two. */
const REPLICAS_TIMEOUT_MS = 1000;
/** PostgreSQL connections for reading the queue, where it stores the queue. */
const OBSERVER_CONNECTIONS = 2;
/** Maximum number of tenants in one read of the queue. */
const MAX_READERS = 100;

export interface Producer {
  /**
   * Resolves when the answers are on disk in the queue. Rejects with `queue-unavailable` when that cannot be
   * guaranteed. They may have been stored all the same; the database resolves duplicates by their ids.
   *
   * `bytes` is their approximate size.
   */
  enqueue(answers: AcceptedAnswer[], bytes: number): Promise<void>;
  /** Throws `queue-unavailable` while answers arrive faster than they can be made durable. */
  refuseWhileBusy(): void;
  health(): QueueHealth;
  /**
   * Returns a tenant's queued answers, read after the call: they include all that any process acknowledged before.
   *
   * Rejects with `queue-unavailable` when the queue cannot be read.
   */
  pending(tenantId: string): Promise<Pending>;
  /** Returns the flushes that this process has made durable so far. Voided numbers up to `since` are dropped. */
  claim(since: number): FlushClaim;
  /**
   * Returns which of these flushes are in the queue, whole or isolated. Rejects with `queue-unavailable` when it cannot
   * be read.
   */
  findQueued(flushes: string[]): Promise<Set<string>>;
  /** Resolves when the first check of the store is over. */
  checked(): Promise<void>;
  close(): Promise<void>;
}

interface Batch {
  answers: AcceptedAnswer[];
  bytes: number;
}

/** Dependencies of a flush. */
interface FlushDeps {
  connection: QueueConnection;
  health: HealthWatch;
  numbers: FlushNumbers;
  metrics: Metrics;
  log: Log;
  spans: Spans | undefined;
  countFailure(error: unknown): void;
}

const refuse = (detail: string, cause?: unknown) =>
  new Problem('queue-unavailable', detail, { retryAfterSeconds: retrySoon(), cause });

/** Opens the producer end of the queue. Concurrent requests share one job per flush (group commit). */
export function openProducer(
  target: ProducerTarget,
  config: Config,
  log: Log,
  metrics: Metrics,
  spans?: Spans,
): Producer {
  const queueTarget = { ...target, relaxed: config.QUEUE_DURABILITY === 'relaxed' };
  const connection = connectQueue(queueTarget, log);
  const observers = connectQueue(queueTarget, log, OBSERVER_CONNECTIONS);
  const registry = watchPending(observers, log);

  const countFailure = (error: unknown) => {
    if (connection.redis) metrics.redisErrors.inc({ kind: failureKind(error) });
  };

  const health = watchHealth({
    connection,
    target,
    config,
    metrics,
    log,
    onFailure: countFailure,
    onTally: registry.record,
  });
  let stopped = false;
  const numbers = createFlushNumbers();
  const group = createGroupCommit<Batch, undefined>({
    flush: createFlush({ connection, health, numbers, metrics, log, spans, countFailure }),
    maxInFlight: MAX_FLUSHES_IN_FLIGHT,
    weigh: batch => [batch.answers.length, batch.bytes],
    maxWeights: [MAX_FLUSH_ANSWERS, MAX_FLUSH_BYTES],
    spans: spans?.groups(sendSpan(QUEUES.answers)),
  });
  const readers = createReaders(observers);
  reportOldest(observers, metrics);

  return {
    enqueue(answers, bytes) {
      const refusal = stopped
        ? new Problem('service-stopping', 'The server is shutting down.', { retryAfterSeconds: 1 })
        : findUnfit(health);
      if (refusal) return Promise.reject(refusal);
      health.expect(bytes + answers.length * OVERHEAD_BYTES);
      return group.add({ answers, bytes });
    },
    refuseWhileBusy() {
      if (group.waitedMs < MAX_WAIT_MS) return;
      metrics.requestsShed.inc();
      throw refuse('Answers arrive faster than the queue can write them to disk.');
    },
    health: health.current,
    checked: health.checked,
    pending: tenantId => observe(() => readers.add(tenantId)),
    claim: numbers.claim,
    findQueued: flushes => observe(() => findQueued(observers, flushes)),
    async close() {
      await group.drained();
      stopped = true;
      health.stop();
      await Promise.all([connection.close(), observers.close()]);
    },
  };
}

/** Returns a refusal while answers cannot be accepted, otherwise undefined. */
function findUnfit(health: HealthWatch): Problem | undefined {
  const reasons = health.refusals();
  if (reasons.length === 0) return undefined;
  return refuse(`Answers cannot be made durable: ${reasons.join('; ')}. See \`parley doctor\`.`);
}

/** Creates the function that makes one flush of batches durable; it rejects with `queue-unavailable`. */
function createFlush(deps: FlushDeps): (batches: Batch[]) => Promise<undefined[]> {
  const { connection, health, numbers, metrics, log, spans, countFailure } = deps;
  const throttle = createThrottle(5000);
  return async batches => {
    const unfit = findUnfit(health);
    if (unfit) throw unfit; // fail now instead of waiting for a time-out
    const basis = health.basis();
    const number = numbers.next();
    const id = numberUuid(numbers.producer, number);
    const trace = spans?.carrier();
    const answers = batches.flatMap(batch => batch.answers);
    const payload: RecordAnswers = { v: 1, flush: id, answers, ...(trace && { trace }) };
    spans?.setAttributes({
      'messaging.message.id': id,
      'parley.requests': batches.length,
      'parley.answers': answers.length,
    });
    const options = { ...KEPT_UNTIL_DONE, jobId: payload.flush };
    try {
      await withTimeout(addFlush(connection, payload, options), PRODUCER_TIMEOUT_MS + 500, 'adding to the queue');
      await confirm(deps, basis);
    } catch (error) {
      numbers.end(number, false);
      metrics.queueFlushes.inc({ outcome: 'failed' });
      countFailure(error);
      if (isTimeout(error)) health.markUnreachable(error); // until the next check
      throttle('flush', held => log.warn({ err: error, held_back: held }, 'answers could not be made durable'));
      throw refuse('The queue did not confirm the answers. Send them again with the same ids.', error);
    }
    numbers.end(number, true);
    metrics.queueFlushes.inc({ outcome: 'written' });
    metrics.answersAccepted.inc(answers.length);
    return batches.map(() => undefined);
  };
}

/** Resolves when an added flush is proven durable: on this disk, and on each required replica. */
async function confirm(
  { connection: { redis }, health }: Pick<FlushDeps, 'connection' | 'health'>,
  basis: Basis,
): Promise<void> {
  if (redis && basis.replicas && health.isStillValid(basis))
    await confirmReplicas(redis, basis.replicas, REPLICAS_TIMEOUT_MS);
  if (!health.isStillValid(basis)) throw new Error('the queue connection or its settings changed during the write');
}

/** Callers that arrive during a read share the next one. */
const createReaders = (observers: QueueConnection) =>
  createGroupCommit<string, Pending>({
    async flush(tenantIds) {
      const distinct = new Map([...new Set(tenantIds)].map(id => [id, readPending(observers, id)]));
      await Promise.all(distinct.values());
      return Promise.all(tenantIds.map(id => distinct.get(id) as Promise<Pending>));
    },
    maxInFlight: 1,
    weigh: () => [1],
    maxWeights: [MAX_READERS],
  });

/** Observers have separate connections, so producers never wait behind them. */
async function observe<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await withTimeout(read(), PRODUCER_TIMEOUT_MS * 2, 'reading the queue');
  } catch (error) {
    throw refuse('The queue cannot be read right now.', error);
  }
}

/** Reports the age of each queue's oldest job as a metric. */
function reportOldest(observers: QueueConnection, metrics: Metrics): void {
  metrics.onScrape(async () => {
    for (const queue of Object.values(QUEUES)) {
      const oldest = await findOldest(observers, queue);
      metrics.queueOldest.set({ queue }, oldest ? (Date.now() - oldest.getTime()) / 1000 : 0);
    }
  });
}

/**
 * Adds a flush, with its entry in the registry.
 *
 * In Valkey or Redis the entry is sent just before the job, in the same packet. A transaction would copy the job once
 * more in this process. If only one of the two succeeds, `pending-repair.ts` corrects it.
 */
async function addFlush(
  { queue, redis }: QueueConnection,
  data: RecordAnswers,
  opts: JobsOptions & { jobId: string },
): Promise<void> {
  const add = () => queue().add('answers.record', data, opts);
  if (!redis) return void (await add()); // in PostgreSQL a trigger adds the entry
  await sendTogether(redis, () => Promise.all([addEntry(redis, queue(), opts.jobId, entryOfFlush(data)), add()]));
}
