import type { Pool } from 'pg';
import type { HeldJob, QueueConnection } from './connection.ts';
import { isIsolated, isolate, placeOf } from './isolation.ts';
import { type IsolatedAnswer, QUEUES, type QueueName, type RecordAnswers } from './jobs.ts';

/** States of a job that is not done; `failed` is one that kills even the processes that would only move it. */
export const PENDING = ['waiting', 'active', 'delayed', 'prioritized', 'failed'] as const;

/** How many jobs are read at once: some 25 MB when all of them are as large as flushes can be. */
const PAGE = 50;

/** Answers of one tenant that are queued: those of a flush, or one that is isolated. */
export interface Queued {
  flush: string;
  /** The flush that an isolated answer came with. */
  part_of?: string;
  count: number;
  oldest: Date;
}

/** What is queued, by tenant. */
export type Census = ReadonlyMap<string, Queued[]>;

type Pending = Pick<HeldJob, 'data' | 'stalledCounter' | 'progress'>;

/** The ids of all jobs of a queue that are not done, in one look: a job that changes its state is not passed over. */
async function readPendingIds({ queue, pool }: QueueConnection, name: QueueName): Promise<string[]> {
  if (!pool) return queue(name).getRanges([...PENDING], 0, -1, true);
  const sql = "select id from job where queue = $1 and state <> 'completed' order by id";
  return (await pool.query<{ id: string }>(sql, [name])).rows.map(row => row.id);
}

/** How many jobs are looked up in one command. */
const LOOKED_UP_AT_ONCE = 1000;

/** Which of these jobs are in a queue. Costs by their number, not by the length of the queue. */
async function findPresent({ queue, redis, pool }: QueueConnection, name: QueueName, ids: string[]): Promise<string[]> {
  const present: string[] = [];
  for (let start = 0; start < ids.length; start += LOOKED_UP_AT_ONCE) {
    const some = ids.slice(start, start + LOOKED_UP_AT_ONCE);
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
export async function findHeld(connection: QueueConnection, flushes: string[]): Promise<Set<string>> {
  const held = new Set(await findPresent(connection, QUEUES.answers, flushes)); // first: what moves meanwhile is found below
  const firsts = new Map(flushes.filter(flush => !held.has(flush)).map(flush => [placeOf(flush, 0), flush]));
  for (const first of await findPresent(connection, QUEUES.isolation, [...firsts.keys()]))
    held.add(firsts.get(first) as string);
  return held;
}

/** Jobs by their ids. One that is missing was done meanwhile. */
async function readJobs({ queue, pool }: QueueConnection, name: QueueName, ids: string[]): Promise<Pending[]> {
  if (!pool) return (await Promise.all(ids.map(id => queue(name).getJob(id)))).filter(job => job !== undefined);
  const sql = 'select data, progress, stalled_count as "stalledCounter" from job where queue = $1 and id = any($2)';
  return (await pool.query<Pending>(sql, [name, ids])).rows; // in one: by BullMQ each is a statement of its own
}

/** So many delayed jobs are looked at: they lie in the order in which they are due, not in that of their age. */
const DELAYED_LOOKED_AT = 50;

/** When the oldest job of a queue that is not done was added; `undefined` without one. Costs the same at any depth. */
export async function findOldest(connection: QueueConnection, name: QueueName): Promise<Date | undefined> {
  if (connection.pool) {
    const sql = `select least(
      (select added_at_ms from job where queue = $1 and state = 'waiting' order by priority, seq limit 1),
      (select min(added_at_ms) from job where queue = $1 and state in ('active', 'delayed', 'failed')))::float8 as ms`;
    const { rows } = await connection.pool.query<{ ms: number | null }>(sql, [name]);
    return rows[0]?.ms == null ? undefined : new Date(rows[0].ms);
  }
  const queue = connection.queue(name);
  const heads = PENDING.map(state =>
    queue.getRanges([state], 0, state === 'delayed' ? DELAYED_LOOKED_AT - 1 : 0, true),
  );
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

async function* readPending(connection: QueueConnection, name: QueueName): AsyncGenerator<Pending> {
  const ids = await readPendingIds(connection, name);
  for (let start = 0; start < ids.length; start += PAGE)
    yield* await readJobs(connection, name, ids.slice(start, start + PAGE));
}

/**
 * Reads what is queued from the queues themselves.
 *
 * The flushes come first: what moves to the isolation meanwhile is found there, and then not counted as a flush. An
 * isolated flush is counted by its answers, so that it does not matter how many of them have been moved already.
 */
export async function takeCensus(connection: QueueConnection): Promise<Census> {
  const byTenant = new Map<string, Queued[]>();
  const isolated = new Set<string>();
  const inParts = new Set<string>();
  const add = (tenantId: string, queued: Queued) => {
    const known = byTenant.get(tenantId);
    if (known) known.push(queued);
    else byTenant.set(tenantId, [queued]);
  };
  const addIsolated = ({ tenant_id, flush, part_of, received_at, replay_of }: IsolatedAnswer) => {
    if (replay_of || isolated.has(flush)) return; // a replay is counted where it still lies, in the quarantine
    isolated.add(flush);
    inParts.add(part_of);
    add(tenant_id, { flush, part_of, count: 1, oldest: new Date(received_at) });
  };
  for await (const job of readPending(connection, QUEUES.answers)) {
    const payload = job.data as RecordAnswers;
    if (isIsolated(job)) isolate(payload).forEach(addIsolated);
    else for (const [tenantId, queued] of countByTenant(payload)) add(tenantId, queued);
  }
  for await (const job of readPending(connection, QUEUES.isolation)) addIsolated(job.data as IsolatedAnswer);
  for (const [tenantId, all] of byTenant)
    byTenant.set(
      tenantId,
      all.filter(({ flush }) => !inParts.has(flush)),
    );
  return byTenant;
}

/** The answers of a flush by tenant, without replays. */
function countByTenant({ flush, answers }: RecordAnswers): Map<string, Queued> {
  const byTenant = new Map<string, Queued>();
  for (const { tenant_id, received_at, replay_of } of answers) {
    if (replay_of) continue;
    const received = new Date(received_at);
    const queued = byTenant.get(tenant_id) ?? { flush, count: 0, oldest: received };
    queued.count++;
    if (received < queued.oldest) queued.oldest = received;
    byTenant.set(tenant_id, queued);
  }
  return byTenant;
}
