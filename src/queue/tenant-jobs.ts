import { UnrecoverableError } from 'bullmq';
import { Problem } from '../domain/problem.ts';
import { retrySoon } from '../domain/retries.ts';
import type { ActiveJob, QueueConnection } from './connection.ts';
import { KEPT_UNTIL_DONE } from './isolation.ts';
import { blamesPayload, countFailure, UnknownJob } from './job-failures.ts';
import { type Handlers, type QueueName, TENANT_JOBS, type TenantJob, type TenantPayload } from './jobs.ts';
import { countUnfinished } from './snapshot.ts';

/** Maximum number of unfinished jobs of one tenant in a queue. */
export const MAX_JOBS_OF_TENANT = 100;
/** Maximum number of unfinished jobs in a queue of tenant jobs. It bounds the cost of adding one. */
const MAX_JOBS = 10_000;
/** Failed jobs that a queue keeps. The oldest beyond them are deleted. */
const MAX_FAILED_JOBS = 1000;
/** After this many failures, outages not counted, a job ends as `failed`. */
const MAX_FAILURES = 5;

/**
 * Adds a job to its queue. A repeated `id` of a queued job has no effect.
 *
 * The queue is in the order of each tenant's own backlog: a tenant's first job precedes the second job of all others,
 * so the backlog of one tenant does not delay the others.
 *
 * Throws `limit-reached` beyond the unfinished jobs of a tenant, and `queue-unavailable` beyond those of the queue.
 */
export async function addTenantJob<Payload extends TenantPayload>(
  { connection, observers }: { connection: QueueConnection; observers: QueueConnection },
  { name, queue }: TenantJob<string, Payload>,
  id: string,
  payload: Payload,
): Promise<void> {
  const ofTenant = `${payload.tenant_id}.`;
  const { all, matching } = await countUnfinished(observers, queue, ofTenant);
  if (matching >= MAX_JOBS_OF_TENANT)
    throw new Problem('limit-reached', `A tenant can have at most ${MAX_JOBS_OF_TENANT} waiting jobs of a kind.`);
  if (all >= MAX_JOBS)
    throw new Problem('queue-unavailable', `The queue ${queue} is full.`, { retryAfterSeconds: retrySoon() });
  await connection.queue(queue).add(name, payload, {
    ...KEPT_UNTIL_DONE,
    jobId: ofTenant + id,
    priority: matching + 1,
    removeOnFail: { count: MAX_FAILED_JOBS },
  });
}

type TenantHandler = (payload: TenantPayload) => Promise<void>;

/**
 * Passes the jobs of a queue to their handlers.
 *
 * A job that keeps failing, outages not counted, ends as `failed`. An unknown job throws `UnknownJob` and is not
 * counted as failed: it waits for a newer worker.
 */
export const createTenantProcess =
  (queue: QueueName, handlers: Handlers) =>
  async (job: ActiveJob): Promise<'done'> => {
    const known = (TENANT_JOBS as readonly TenantJob[]).find(each => each.queue === queue && each.name === job.name);
    if (!known) throw new UnknownJob(`unknown job: ${job.name}`);
    const parsed = known.payload.safeParse(job.data);
    if (!parsed.success) throw new UnknownJob(`invalid payload of ${job.name}: ${parsed.error.message}`);
    const handle = (handlers as unknown as Record<string, TenantHandler>)[known.name] as TenantHandler;
    try {
      await handle(parsed.data);
      return 'done';
    } catch (error) {
      if (!blamesPayload(error) || (await countFailure(job)) < MAX_FAILURES) throw error;
      throw Object.assign(new UnrecoverableError(String(error)), { cause: error });
    }
  };

/** Whether the job has ended as `failed`. */
export const isGivenUp = (error: unknown): boolean => error instanceof UnrecoverableError;
