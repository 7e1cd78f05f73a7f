import { Job, type JobsOptions } from 'bullmq';
import type { ChainableCommander, Redis } from 'ioredis';
import type { AnyQueue, JobData } from './connection.ts';
import { HEADS, type Pending, type PendingEntry } from './pending.ts';

/*
 * The registry of pending answers in Valkey or Redis: which flushes are queued, with how many answers of which tenants.
 *
 * The producer of a job adds its entry, and a worker removes it once the database has the answers. Processes of the
 * previous version do neither, and a store, producer or worker can fail in between. `pending-repair.ts` corrects such
 * differences.
 */

/** Entries by flush, as JSON. */
const ENTRIES = 'parley:pending:flushes';
/** Number of pending answers of each tenant. */
const COUNTS = 'parley:pending:counts';
/** Key prefix, followed by a tenant: its flushes by the age of their oldest answer. */
const AGES = 'parley:pending:ages:';
const REPAIRING = 'parley:pending:repairing';

/** One process repairs at a time. */
const REPAIRING_MS = 30_000;
const SCANNED_AT_ONCE = 500;

/** The member of a tenant's flushes: `<flush>:<number of answers>:<flush that an isolated answer came with>`. */
const MEMBER = "id .. ':' .. each[2] .. ':' .. (entry.part_of or '')";

const SCRIPTS = {
  /** Adds a missing entry, provided that the job exists ('1') or does not exist yet ('0'), by ARGV[2]. */
  parleyAddPending: {
    numberOfKeys: 3,
    lua: `
local id = ARGV[1]
if redis.call('EXISTS', KEYS[1]) ~= tonumber(ARGV[2]) then return 0 end
if redis.call('HSETNX', KEYS[2], id, ARGV[3]) == 0 then return 0 end
local entry = cjson.decode(ARGV[3])
for _, each in ipairs(entry.tenants) do
  redis.call('HINCRBY', KEYS[3], each[1], each[2])
  redis.call('ZADD', '${AGES}' .. each[1], each[3], ${MEMBER})
end
return 1`,
  },
  /** Removes entries. Given prefixes of job keys, only those of jobs that are in none of these queues. */
  parleyRemovePending: {
    numberOfKeys: 2,
    lua: `
local prefixes = cjson.decode(ARGV[1])
local names, counts, members = {}, {}, {}
local removed = 0
for place = 2, #ARGV do
  local id = ARGV[place]
  local queued = false
  for _, prefix in ipairs(prefixes) do queued = queued or redis.call('EXISTS', prefix .. id) == 1 end
  local text = not queued and redis.call('HGET', KEYS[1], id)
  if text then
    local entry = cjson.decode(text)
    redis.call('HDEL', KEYS[1], id)
    for _, each in ipairs(entry.tenants) do
      local name = each[1]
      if not members[name] then
        names[#names + 1] = name
        counts[name], members[name] = 0, {}
      end
      counts[name] = counts[name] + each[2]
      table.insert(members[name], ${MEMBER})
    end
    removed = removed + 1
  end
end
for _, name in ipairs(names) do
  if redis.call('HINCRBY', KEYS[2], name, -counts[name]) <= 0 then redis.call('HDEL', KEYS[2], name) end
  redis.call('ZREM', '${AGES}' .. name, unpack(members[name]))
end
return removed`,
  },
} as const;

/** The scripts as commands of a connection, or of a transaction on it. */
interface Commands<Reply> {
  parleyAddPending(job: string, entries: string, counts: string, id: string, present: string, entry: string): Reply;
  parleyRemovePending(entries: string, counts: string, prefixes: string, ...ids: string[]): Reply;
}

/** Defines the scripts on a connection once. Later transactions have them too. */
function commandsOf(redis: Redis): Commands<Promise<number>> {
  if (!('parleyAddPending' in redis))
    for (const [name, script] of Object.entries(SCRIPTS)) redis.defineCommand(name, script);
  return redis as unknown as Commands<Promise<number>>;
}

const commandsIn = (transaction: ChainableCommander) => transaction as unknown as Commands<void>;

/** Adds the entry of a job that is about to be added. */
export const addEntry = (redis: Redis, queue: AnyQueue, id: string, entry: PendingEntry): Promise<unknown> =>
  commandsOf(redis).parleyAddPending(...argumentsOf(queue, id, '0', entry));

/** A job with answers, and its entry in the registry. */
export interface CountedJob {
  name: string;
  data: JobData;
  opts: JobsOptions & { jobId: string };
  entry: PendingEntry;
}

/** A transaction that BullMQ adds jobs to. */
type JobTransaction = ChainableCommander & { runCommand(name: string, args: unknown[]): void };

function openTransaction(redis: Redis): JobTransaction {
  commandsOf(redis);
  const transaction = redis.multi() as ChainableCommander & Record<string, unknown>;
  const runCommand = (name: string, args: unknown[]) => (transaction[name] as (args: unknown[]) => void)(args);
  return Object.assign(transaction, { runCommand });
}

/**
 * Adds jobs and their entries in one transaction, which also removes the entry of the job that they replace.
 *
 * An existing job keeps its entry. Rejects when a job was not added.
 */
export async function addCounted(redis: Redis, queue: AnyQueue, jobs: CountedJob[], replaced?: string): Promise<void> {
  await queue.waitUntilReady(); // BullMQ has defined its commands by then
  const transaction = openTransaction(redis);
  for (const { name, data, opts, entry } of jobs) {
    commandsIn(transaction).parleyAddPending(...argumentsOf(queue, opts.jobId, '0', entry));
    await new Job(queue as never, name, data, opts, opts.jobId).addJob(transaction as never, {});
  }
  if (replaced) commandsIn(transaction).parleyRemovePending(ENTRIES, COUNTS, '[]', replaced);
  const results = (await transaction.exec().catch(throwCause)) ?? [];
  for (const [place, job] of jobs.entries())
    await checkAdded(redis, queue, job, results.slice(2 * place, 2 * place + 2));
}

const argumentsOf = (queue: AnyQueue, id: string, present: '0' | '1', entry: PendingEntry) =>
  [queue.toKey(id), ENTRIES, COUNTS, id, present, JSON.stringify(entry)] as const;

/** A discarded transaction reports no cause; the refused command does. */
function throwCause(error: Error & { previousErrors?: Error[] }): never {
  throw error.previousErrors?.[0] ?? error;
}

/** Throws when the job was not added. A script that the store has evicted is sent again, outside a transaction. */
async function checkAdded(
  redis: Redis,
  queue: AnyQueue,
  { name, data, opts, entry }: CountedJob,
  [counting, adding]: [error: Error | null, result: unknown][],
): Promise<void> {
  const [error, result] = adding ?? [new Error('the transaction was discarded')];
  if (error?.message.startsWith('NOSCRIPT')) await queue.add(name, data, opts);
  else if (error) throw error;
  else if (typeof result === 'number' && result < 0) throw new Error(`the job was not added (${result})`);
  if (counting?.[0]) await commandsOf(redis).parleyAddPending(...argumentsOf(queue, opts.jobId, '1', entry));
}

/** Removes the entries of jobs whose answers the database holds. */
export const removePending = (redis: Redis, ids: string[]): Promise<unknown> =>
  commandsOf(redis).parleyRemovePending(ENTRIES, COUNTS, '[]', ...ids);

/** A tenant's pending answers. Costs the same at any backlog. */
export async function readPendingInRedis(redis: Redis, tenantId: string): Promise<Pending> {
  const results = await redis
    .multi()
    .hget(COUNTS, tenantId)
    .zrange(AGES + tenantId, '0', String(HEADS - 1), 'WITHSCORES')
    .exec();
  const [count, flat] = (results ?? []).map(([error, result]) => {
    if (error) throw error;
    return result;
  }) as [string | null, string[]];
  const heads = flat.flatMap((member, place) => {
    if (place % 2 === 1) return [];
    const [flush = '', answers, partOf] = member.split(':');
    return [
      { flush, count: Number(answers), oldest: new Date(Number(flat[place + 1])), ...(partOf && { part_of: partOf }) },
    ];
  });
  return { count: Number(count ?? 0), heads };
}

/** The number of jobs in the registry. */
export const countEntries = (redis: Redis): Promise<number> => redis.hlen(ENTRIES);

/** Whether this process may repair the registry now: one process at a time, at most every half minute. */
export const claimRepair = async (redis: Redis): Promise<boolean> =>
  (await redis.set(REPAIRING, '1', 'PX', REPAIRING_MS, 'NX')) !== null;

/** Removes the entries of jobs that are in none of the queues, in small steps. */
export async function removeStale(redis: Redis, queues: AnyQueue[]): Promise<void> {
  const prefixes = JSON.stringify(queues.map(queue => queue.toKey('')));
  for (let cursor: string | undefined; cursor !== '0'; ) {
    const [next, flat] = await redis.hscan(ENTRIES, cursor ?? '0', 'COUNT', SCANNED_AT_ONCE);
    cursor = next;
    const ids = flat.filter((_, place) => place % 2 === 0);
    if (ids.length > 0) await commandsOf(redis).parleyRemovePending(ENTRIES, COUNTS, prefixes, ...ids);
  }
}

/** Returns the jobs that have no entry. */
export async function findUncounted(redis: Redis, ids: string[]): Promise<string[]> {
  const uncounted: string[] = [];
  for (let start = 0; start < ids.length; start += SCANNED_AT_ONCE) {
    const some = ids.slice(start, start + SCANNED_AT_ONCE);
    const entries = await redis.hmget(ENTRIES, ...some);
    uncounted.push(...some.filter((_, place) => entries[place] === null));
  }
  return uncounted;
}

/** Adds the missing entry of a job if the job is still queued. */
export const addMissing = (redis: Redis, queue: AnyQueue, id: string, entry: PendingEntry): Promise<unknown> =>
  commandsOf(redis).parleyAddPending(...argumentsOf(queue, id, '1', entry));
