import type { Log } from '../platform/log.ts';
import type { QueueConnection } from './connection.ts';
import { isIsolated } from './isolation.ts';
import { type IsolatedAnswer, QUEUES, type QueueName, type RecordAnswers } from './jobs.ts';
import { entryOfFlush, entryOfPart } from './pending.ts';
import { addMissing, claimRepair, countEntries, findUncounted, removeStale } from './pending-redis.ts';
import { readJobs, readPendingIds } from './snapshot.ts';

/** Consecutive checks, one per second, that must find stale entries: workers remove entries a moment late. */
const CHECKS_WITH_EXCESS = 10;
/** Consecutive checks that must find jobs without an entry: only processes of the previous version add such jobs. */
const CHECKS_WITH_MISSING = 2;

/** The counts of one check, in the queues of answers. */
export interface RegistryCounts {
  /** Jobs with an entry in the registry. */
  entries: number;
  /** Jobs not held by a worker. */
  idle: number;
  active: number;
}

/**
 * Keeps the registry of pending answers consistent with the queues of answers in Valkey or Redis.
 *
 * A lasting difference is repaired: more entries than jobs in ten checks, or more idle jobs than entries in two. Equal
 * numbers of both cancel out until the queue moves on. The repair is per job and idempotent, so it can run next to
 * producers and workers.
 */
export function watchPending(connection: QueueConnection, log: Log) {
  let [withExcess, withMissing] = [0, 0];
  let running: Promise<void> | undefined;

  const repair = async (idle: number) => {
    const { redis, queue } = connection;
    if (!redis || !(await claimRepair(redis))) return;
    const names = Object.values(QUEUES);
    await removeStale(
      redis,
      names.map(name => queue(name)),
    );
    const lacks = (await countEntries(redis)) < idle;
    if (lacks) for (const name of names) await countMissing(connection, name);
    log.info({ jobs_without_entry: lacks }, 'repaired the registry of pending answers');
  };

  return {
    /** Records a check, and starts a repair when it is due. */
    record({ entries, idle, active }: RegistryCounts): void {
      withExcess = entries > idle + active ? withExcess + 1 : 0;
      withMissing = idle > entries ? withMissing + 1 : 0;
      const [hasExcess, hasMissing] = [withExcess >= CHECKS_WITH_EXCESS, withMissing >= CHECKS_WITH_MISSING];
      if (running || (!hasExcess && !hasMissing)) return;
      running = repair(idle)
        .catch(error =>
          log.warn(
            { reason: (error as Error).message },
            'could not repair the registry of pending answers; will retry',
          ),
        )
        .finally(() => {
          running = undefined;
        });
    },
  };
}

async function countMissing(connection: QueueConnection, name: QueueName): Promise<void> {
  const { redis, queue } = connection;
  if (!redis) return;
  const uncounted = await findUncounted(redis, await readPendingIds(connection, name));
  for await (const job of readJobs(connection, name, uncounted)) {
    if (isIsolated(job)) continue; // its answers have entries of their own
    const { id, data } = job;
    const entry = name === QUEUES.answers ? entryOfFlush(data as RecordAnswers) : entryOfPart(data as IsolatedAnswer);
    if (id) await addMissing(redis, queue(name), id, entry);
  }
}
