import type { Log } from '../platform/log.ts';
import { readJobs, readPendingIds } from './census.ts';
import type { QueueConnection } from './connection.ts';
import { type IsolatedAnswer, QUEUES, type QueueName, type RecordAnswers } from './jobs.ts';
import { entryOfFlush, entryOfPart } from './pending.ts';
import { addMissing, claimRepair, countEntries, findUncounted, removeGone } from './pending-redis.ts';

/** How many looks in a row, a second apart, must find entries of jobs that are gone: workers remove them a moment late. */
const LOOKS_WITH_EXCESS = 10;
/** How many must find jobs without an entry: nothing but a process of the previous version adds them. */
const LOOKS_WITH_MISSING = 2;

/** What a look at the store found. */
export interface Tally {
  /** Jobs with an entry in the registry. */
  entries: number;
  /** Jobs that no worker holds. */
  idle: number;
  active: number;
}

/**
 * Keeps the registry of pending answers in line with the queues, where Valkey or Redis carries them.
 *
 * A difference in number that persists is repaired: more entries than jobs after ten looks, more idle jobs than entries
 * after two. As many of one as of the other cancel out until the queue moves on. The repair is per job and idempotent,
 * so that it runs next to those who add and take jobs.
 */
export function watchPending(connection: QueueConnection, log: Log) {
  let [withExcess, withMissing] = [0, 0];
  let running: Promise<void> | undefined;

  const repair = async (idle: number) => {
    const { redis, queue } = connection;
    if (!redis || !(await claimRepair(redis))) return;
    const names = Object.values(QUEUES);
    await removeGone(
      redis,
      names.map(name => queue(name)),
    );
    const lacks = (await countEntries(redis)) < idle;
    if (lacks) for (const name of names) await countMissing(connection, name);
    log.info({ jobs_without_entry: lacks }, 'repaired the registry of pending answers');
  };

  return {
    /** Notes what a look found, and starts a repair when it is due. */
    note({ entries, idle, active }: Tally): void {
      withExcess = entries > idle + active ? withExcess + 1 : 0;
      withMissing = idle > entries ? withMissing + 1 : 0;
      const [hasExcess, hasMissing] = [withExcess >= LOOKS_WITH_EXCESS, withMissing >= LOOKS_WITH_MISSING];
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
  for await (const { id, data } of readJobs(connection, name, uncounted)) {
    const entry = name === QUEUES.answers ? entryOfFlush(data as RecordAnswers) : entryOfPart(data as IsolatedAnswer);
    if (id) await addMissing(redis, queue(name), id, entry);
  }
}
