import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../../domain/problem.ts';
import { BUILD } from '../../platform/build-info.ts';
import type { Log } from '../../platform/log.ts';
import { withTimeout } from '../../platform/timeouts.ts';
import { NEEDED_SCHEMA } from '../migrations/index.ts';
import type { Storage } from './orm.ts';
import type { Transaction } from './transaction.ts';

const EVERY_MS = 10_000;
/** Seconds without a sign of life after which a process counts as ended: six intervals. */
const FORGOTTEN_AFTER_S = 60;

/** During an outage, the row is left. */
const CLOSE_LIMIT_MS = 1000;

/** The row of this process in `processes`. */
export interface ProcessRow {
  /** Stops renewing the row, and deletes it. */
  close(): Promise<void>;
}

/** Processes of one kind that run now. */
export interface RunningProcesses {
  /** The role: `serve`, `work`, or `start` for both. */
  role: string;
  version: string;
  /** The schema version that the build needs. */
  schema: number;
  /** The number of processes. */
  count: number;
}

const renew = (storage: Storage, id: string, role: string): Promise<unknown> =>
  storage.query(
    `with ended as (
       delete from processes where id <> $1 and seen_at < clock_timestamp() - make_interval(secs => $5)
     )
     insert into processes values ($1, $2, $3, $4, clock_timestamp())
     on conflict (id) do update set seen_at = excluded.seen_at`,
    [id, role, BUILD.version, NEEDED_SCHEMA, FORGOTTEN_AFTER_S],
  );

/**
 * Keeps the row of this process until it is closed: renews it every 10 s, and deletes the rows of processes that ended
 * without deleting theirs.
 *
 * Failures are not reported, because outages and missing migrations are, elsewhere; the next interval tries again.
 */
export function keepProcessRow(storage: Storage, role: string, log: Log): ProcessRow {
  const id = randomUUID();
  const closing = new AbortController();
  const { signal } = closing;
  const renewing = (async () => {
    for (; !signal.aborted; await sleep(EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined))
      await renew(storage, id, role).catch(error => log.debug({ reason: error.message }, 'process row not renewed'));
  })();
  return {
    async close() {
      closing.abort();
      const deleted = renewing.then(() => storage.query('delete from processes where id = $1', [id]));
      await withTimeout(deleted, CLOSE_LIMIT_MS, 'deleting the row').catch(() => undefined); // it is forgotten after 60 s
    },
  };
}

/** Returns the processes that were seen in the last minute, by role, version and schema. */
export const findRunningProcesses = (storage: Storage): Promise<RunningProcesses[]> =>
  storage.query<RunningProcesses>(
    `select role, version, schema, count(*)::int as count from processes
     where seen_at >= clock_timestamp() - make_interval(secs => $1)
     group by role, version, schema order by role, schema, version`,
    [FORGOTTEN_AFTER_S],
  );

/**
 * Throws 409 `upgrade-unfinished` while an API process runs that needs an older schema than `schema`: it would refuse
 * answers that this one accepts, and clients drop refused answers.
 */
export async function requireUpgraded(tx: Transaction, schema: number, feature: string): Promise<void> {
  const [oldest] = await tx.query<{ version: string }>(
    `select version from processes
     where role <> 'work' and schema < $1 and seen_at >= clock_timestamp() - make_interval(secs => $2)
     order by schema, version limit 1`,
    [schema, FORGOTTEN_AFTER_S],
  );
  if (!oldest) return;
  throw new Problem(
    'upgrade-unfinished',
    `${feature} need all API processes to run this version; one of version ${oldest.version} was seen in the last minute. Finish the update and try again.`,
    { extra: { oldest_version: oldest.version } },
  );
}
