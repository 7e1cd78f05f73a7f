import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { deleteOldEvents } from '../storage/events.ts';
import type { Storage } from '../storage/orm.ts';
import {
  deleteExpiredAnswerIds,
  deleteOldConversationStarts,
  deleteOldDeliveries,
  deleteOldProfileChanges,
  deleteOldTombstones,
  type Expire,
  expireAnswers,
  expireConversations,
  listTenantsWithRetention,
  readDatabaseClock,
  trimConversation,
} from '../storage/retention.ts';
import { eraseDeleted } from './erasure.ts';
import { pause, runRounds } from './rounds.ts';

/** How often expired rows are deleted. */
const EVERY_MS = 10 * 60_000;
/** Pause between two batches, so that storing new answers is not delayed. */
const PAUSE_MS = 100;

/** Maximum difference between the clocks of the database and of this process; beyond it, neither is trusted. */
const MAX_SKEW_MS = 5 * 60_000;

/** Rows with a retention period. */
interface Expiry {
  /** Their label in the metric. */
  kind: string;
  expire: Expire;
  /** Deletes parts of them first, until it returns 0. */
  trim?: Expire;
}

const EXPIRY: Expiry[] = [
  { kind: 'answers', expire: expireAnswers },
  { kind: 'conversations', expire: expireConversations, trim: trimConversation },
];

interface RetentionDeps {
  storage: Storage;
  metrics: Metrics;
  log: Log;
  signal: AbortSignal;
  /** This process's clock. */
  now?: () => Date;
}

/**
 * Deletes expired rows and the rows of deleted tenants until the signal is aborted. Several workers may run at once:
 * they lock different rows.
 */
export async function runRetention(deps: RetentionDeps): Promise<void> {
  await runRounds({ ...deps, failure: 'retention failed; will retry', retryMs: EVERY_MS }, async () => {
    await deleteExpired(deps);
    await eraseDeleted(deps);
    return EVERY_MS;
  });
}

/**
 * Deletes all expired rows in batches, alternating between kinds and tenants, then old events and changes of profiles,
 * and the ids of answers and conversations that were deleted long ago. A failure ends only the work on the rows of its
 * tenant, so that the data of others is deleted all the same.
 *
 * Deletes no rows while the clocks differ: one of them may have jumped ahead, and a deletion cannot be undone.
 */
export async function deleteExpired({ storage, metrics, log, signal, now = () => new Date() }: RetentionDeps) {
  if (!(await clocksAgree({ storage, metrics, log, now }))) return;
  const tenants = await listTenantsWithRetention(storage);
  const failures: { tenant: string; reason: string }[] = [];
  let left = tenants.flatMap(tenantId => EXPIRY.map(expiry => ({ tenantId, ...expiry })));
  while (left.length > 0 && !signal.aborted) {
    const more: typeof left = [];
    for (const one of left) {
      if (signal.aborted) return;
      const isMore = await expireBatch(one, { storage, metrics, now }).catch((error: Error) => {
        failures.push({ tenant: one.tenantId, reason: error.message });
        return false;
      });
      if (!isMore) continue;
      more.push(one);
      await pause(PAUSE_MS, signal);
    }
    left = more;
  }
  if (failures.length > 0)
    log.warn({ failed: failures.length, first: failures[0] }, 'retention of some tenants failed; will retry');
  for (const forget of [
    deleteExpiredAnswerIds,
    deleteOldConversationStarts,
    deleteOldTombstones,
    deleteOldEvents,
    deleteOldDeliveries,
    deleteOldProfileChanges,
  ])
    while (!signal.aborted && (await forget(storage, now())) > 0) await pause(PAUSE_MS, signal);
}

/** Deletes a batch of a tenant's rows, and returns whether there may be more. */
async function expireBatch(
  { tenantId, kind, expire, trim }: Expiry & { tenantId: string },
  { storage, metrics, now }: Omit<ClockDeps, 'log'>,
): Promise<boolean> {
  if (trim && (await trim(storage, tenantId, now())) > 0) return true;
  const deleted = await expire(storage, tenantId, now());
  if (deleted > 0) metrics.expired.inc({ kind }, deleted);
  return deleted > 0;
}

type ClockDeps = Required<Pick<RetentionDeps, 'storage' | 'metrics' | 'log' | 'now'>>;

async function clocksAgree({ storage, metrics, log, now }: ClockDeps): Promise<boolean> {
  const skewMs = (await readDatabaseClock(storage)).getTime() - now().getTime();
  metrics.databaseClockSkew.set(skewMs / 1000);
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return true;
  log.error(
    { skew_s: Math.round(skewMs / 1000) },
    'retention is paused: the clocks of PostgreSQL and of this worker differ by more than 5 minutes',
  );
  return false;
}
