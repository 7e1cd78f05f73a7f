import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Pool } from 'pg';
import type { ActiveJob, QueueConnection } from './connection.ts';
import { isolatedAnswerId } from './isolation.ts';
import { QUEUES, type QueueName } from './jobs.ts';
import type { Pending } from './pending.ts';
import { countJobsInPostgres, readPendingInPostgres } from './pending-postgres.ts';
import { readPendingInRedis } from './pending-redis.ts';

/** States of a job that is not done; `failed` is one that kills even the processes that would only move it. */
export const PENDING = ['waiting', 'active', 'delayed', 'prioritized', 'failed'] as const;

/** How many jobs are read at once: some 25 MB when all of them are as large as flushes can be. */
const PAGE = 50;

type QueuedJob = Pick<ActiveJob, 'id' | 'data'>;

/** The ids of all jobs of a queue that are not done, in one look: a job that changes its state is not passed over. */
export async function readPendingIds({ queue, pool }: QueueConnection, name: QueueName): Promise<string[]> {
  if (!pool) return queue(name).getRanges([...PENDING], 0, -1, true);
  const sql = "select id from job where queue = $1 and state <> 'completed' order by id";
  return (await pool.query<{ id: string }>(sql, [name])).rows.map(row => row.id);
}

/** How many jobs are looked up in one command. */
const LOOKUP_BATCH = 1000;

/** Which of these jobs are in a queue. Costs by their number, not by the length of the queue. */
async function findPresent({ queue, redis, pool }: QueueConnection, name: QueueName, ids: string[]): Promise<string[]> {
  const present: string[] = [];
  for (let start = 0; start < ids.length; start += LOOKUP_BATCH) {
    const some = ids.slice(start, start + LOOKUP_BATCH);
    if (pool) {
      const sql = "select id from job where queue = $1 and id = any($2) and state <> 'completed'";
      present.push(...(await pool.query<{ id: string }>(sql, [name, some])).rows.map(row => row.id));
    } else if (redis) {
      const toKey = (id: string) => queue(name).toKey(id);
      const found = await redis.pipeline(some.map(id => ['exists', toKey(id)])).exec();
      for (const [place, [error, exists]] of found?.entries() ?? []) {
        if (error) throw error;
        if (exists === 1) present.push(some[place] as string);
      }
    }
  }
  return present;
}

/** Which of these flushes are queued, whole or isolated: the first isolated answer stands for its flush. */
export async function findQueued(connection: QueueConnection, flushes: string[]): Promise<Set<string>> {
  const queued = new Set(await findPresent(connection, QUEUES.answers, flushes)); // first: what moves meanwhile is found below
  const firsts = new Map(flushes.filter(flush => !queued.has(flush)).map(flush => [isolatedAnswerId(flush, 0), flush]));
  for (const first of await findPresent(connection, QUEUES.isolation, [...firsts.keys()]))
    queued.add(firsts.get(first) as string);
  return queued;
}

/** Jobs by their ids, page by page, resting as long as it worked. One that is missing was done meanwhile. */
export async function* readJobs({ queue }: QueueConnection, name: QueueName, ids: string[]): AsyncGenerator<QueuedJob> {
  for (let start = 0; start < ids.length; start += PAGE) {
    const startedAt = performance.now();
    for (const job of await Promise.all(ids.slice(start, start + PAGE).map(id => queue(name).getJob(id))))
      if (job) yield job;
    await sleep(performance.now() - startedAt);
  }
}

/** How many jobs of a queue are in each state in which they are not done. */
export async function countJobs({ queue, pool }: QueueConnection, name: QueueName): Promise<Record<string, number>> {
  return pool ? countJobsInPostgres(pool, name) : queue(name).getJobCounts(...PENDING);
}

/** A tenant's answers that are queued. Costs the same at any depth of the queues. */
export function readPending({ redis, pool }: QueueConnection, tenantId: string): Promise<Pending> {
  return pool ? readPendingInPostgres(pool, tenantId) : readPendingInRedis(redis as Redis, tenantId);
}

/** So many delayed jobs are looked at: they lie in the order in which they are due, not in that of their age. */
const DELAYED_SAMPLE = 50;

/** When the oldest job of a queue that is not done was added; `undefined` without one. Costs the same at any depth. */
export async function findOldest(connection: QueueConnection, name: QueueName): Promise<Date | undefined> {
  if (connection.pool) {
    const sql = `select least(
      (select added_at_ms from job where queue = $1 and state = 'waiting' order by priority, seq limit 1),
      (select min(added_at_ms) from job where queue = $1 and state in ('active', 'failed')),
      (select min(added_at_ms) from (
        select added_at_ms from job where queue = $1 and state = 'delayed' order by process_at_ms limit ${DELAYED_SAMPLE}
      ) as next))::float8 as ms`;
    const { rows } = await connection.pool.query<{ ms: number | null }>(sql, [name]);
    return rows[0]?.ms == null ? undefined : new Date(rows[0].ms);
  }
  const queue = connection.queue(name);
  const heads = PENDING.map(state => queue.getRanges([state], 0, state === 'delayed' ? DELAYED_SAMPLE - 1 : 0, true));
  const jobs = await Promise.all((await Promise.all(heads)).flat().map(id => queue.getJob(id)));
  const times = jobs.flatMap(job => job?.timestamp ?? []);
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}

/** How many waiting jobs are measured to estimate the size of the queue. */
const MEASURED_JOBS = 32;
/** What a row of a job takes besides its data: options, times, and its entries in the indexes. */
const JOB_ROW_BYTES = 600;

/**
 * The mean size on disk, in bytes, of jobs that wait in PostgreSQL; 0 without any. An estimate from 32 places spread at
 * random over the queue, so that it costs the same at any depth. (The table's own size never shrinks after a backlog.)
 */
export async function measureJob(pool: Pool): Promise<number> {
  const sql = `with waiting as (
      select min(seq) as first, max(seq) as last from job where queue = $1 and state = 'waiting' and priority = 0
    ), places as materialized (
      select first + floor(random() * (last - first + 1))::bigint as place
      from waiting, generate_series(1, ${MEASURED_JOBS})
    )
    select avg(pg_column_size(data)) + ${JOB_ROW_BYTES} as bytes from places, lateral (
      select data from job where queue = $1 and state = 'waiting' and priority = 0 and seq >= place
      order by seq limit 1
    ) as job_at_place`;
  const { rows } = await pool.query<{ bytes: string | null }>(sql, [QUEUES.answers]);
  return Number(rows[0]?.bytes ?? 0);
}
