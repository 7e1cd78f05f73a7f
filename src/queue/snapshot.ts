import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Pool } from 'pg';
import type { ActiveJob, QueueConnection } from './connection.ts';
import { isolatedAnswerId } from './isolation.ts';
import { QUEUES, type QueueName } from './jobs.ts';
import type { Pending } from './pending.ts';
import { countJobsInPostgres, readPendingInPostgres } from './pending-postgres.ts';
import { readPendingInRedis } from './pending-redis.ts';

/** States of unfinished jobs. `failed` jobs kill even the process that would move them to isolation. */
export const PENDING = ['waiting', 'active', 'delayed', 'prioritized', 'failed'] as const;

/** Jobs read at once: about 25 MB if all have the maximum size. */
const PAGE = 50;

type QueuedJob = Pick<ActiveJob, 'id' | 'data' | 'progress' | 'stalledCounter'>;

/** Returns the ids of all unfinished jobs of a queue, read at once, so that jobs changing state are not missed. */
export async function readPendingIds({ queue, pool }: QueueConnection, name: QueueName): Promise<string[]> {
  if (!pool) return queue(name).getRanges([...PENDING], 0, -1, true);
  const sql = "select id from job where queue = $1 and state <> 'completed' order by id";
  return (await pool.query<{ id: string }>(sql, [name])).rows.map(row => row.id);
}

/** How many jobs are looked up in one command. */
const LOOKUP_BATCH = 1000;

/** Returns which of these jobs are in a queue. The cost depends on their number, not on the queue's length. */
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

/** Returns which of these flushes are queued, whole or isolated. The first isolated answer represents its flush. */
export async function findQueued(connection: QueueConnection, flushes: string[]): Promise<Set<string>> {
  const queued = new Set(await findPresent(connection, QUEUES.answers, flushes)); // first: see below
  const firsts = new Map(flushes.filter(flush => !queued.has(flush)).map(flush => [isolatedAnswerId(flush, 0), flush]));
  for (const first of await findPresent(connection, QUEUES.isolation, [...firsts.keys()]))
    queued.add(firsts.get(first) as string);
  return queued;
}

/** Yields jobs by id, page by page, with pauses as long as each page took. Missing jobs were finished meanwhile. */
export async function* readJobs({ queue }: QueueConnection, name: QueueName, ids: string[]): AsyncGenerator<QueuedJob> {
  for (let start = 0; start < ids.length; start += PAGE) {
    const startedAt = performance.now();
    for (const job of await Promise.all(ids.slice(start, start + PAGE).map(id => queue(name).getJob(id))))
      if (job) yield job;
    await sleep(performance.now() - startedAt);
  }
}

/** Returns the number of unfinished jobs of a queue by state. */
export async function countJobs({ queue, pool }: QueueConnection, name: QueueName): Promise<Record<string, number>> {
  return pool ? countJobsInPostgres(pool, name) : queue(name).getJobCounts(...PENDING);
}

/** Returns a tenant's queued answers. Costs the same at any queue length. */
export function readPending({ redis, pool }: QueueConnection, tenantId: string): Promise<Pending> {
  return pool ? readPendingInPostgres(pool, tenantId) : readPendingInRedis(redis as Redis, tenantId);
}

/** Jobs examined for the oldest in states that are sorted by due time or by priority, not by age. */
const SAMPLE = 50;
/** States sorted by age. */
const BY_AGE: readonly string[] = ['waiting', 'active', 'failed'];

/**
 * Returns when the oldest unfinished job of a queue was added; `undefined` without one. Costs the same at any length.
 */
export async function findOldest(connection: QueueConnection, name: QueueName): Promise<Date | undefined> {
  if (connection.pool) {
    const sql = `select least(
      (select min(added_at_ms) from (
        select added_at_ms from job where queue = $1 and state = 'waiting' order by priority, seq limit ${SAMPLE}
      ) as head),
      (select min(added_at_ms) from job where queue = $1 and state in ('active', 'failed')),
      (select min(added_at_ms) from (
        select added_at_ms from job where queue = $1 and state = 'delayed' order by process_at_ms limit ${SAMPLE}
      ) as next))::float8 as ms`;
    const { rows } = await connection.pool.query<{ ms: number | null }>(sql, [name]);
    return rows[0]?.ms == null ? undefined : new Date(rows[0].ms);
  }
  const queue = connection.queue(name);
  const heads = PENDING.map(state => queue.getRanges([state], 0, BY_AGE.includes(state) ? 0 : SAMPLE - 1, true));
  const jobs = await Promise.all((await Promise.all(heads)).flat().map(id => queue.getJob(id)));
  const times = jobs.flatMap(job => job?.timestamp ?? []);
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}

/** Waiting jobs measured to estimate the size of the queue. */
const MEASURED_JOBS = 32;
/** Bytes of a job row besides its data: options, times and index entries. */
const JOB_ROW_BYTES = 600;

/**
 * Returns the mean size on disk, in bytes, of jobs waiting in PostgreSQL; 0 without any. An estimate from 32 random
 * positions in the queue, so that it costs the same at any length. (The table itself never shrinks after a backlog.)
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
