import type { Metrics } from '../platform/metrics.ts';
import type { Storage } from '../storage/database/orm.ts';
import { OLD_EVENTS } from '../storage/events/events.ts';
import {
  ENDED_MAILS,
  EXPIRED_ANSWER_IDS,
  type Expire,
  expireAnswers,
  expireConversations,
  listTenantsWithRetention,
  OLD_CONVERSATION_STARTS,
  OLD_DELIVERIES,
  OLD_PROFILE_CHANGES,
  OLD_TOMBSTONES,
  type OldRows,
  readDatabaseClock,
  trimConversation,
} from '../storage/tenants/retention.ts';
import { erasure } from './erasure.ts';
import { pause, runRounds } from './rounds.ts';
import { createTenantRounds, type RoundDeps, type TenantRounds, type TenantWork } from './tenant-rounds.ts';

/** How often expired rows are deleted. */
const EVERY_MS = 10 * 60_000;
const RETRY_MS = 60_000;
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

export const EXPIRY: readonly Expiry[] = [
  { kind: 'answers', expire: expireAnswers },
  { kind: 'conversations', expire: expireConversations, trim: trimConversation },
];

/** Rows that are deleted by age, by the name of their loop. */
export const OLD: Record<string, OldRows> = {
  'answer-ids': EXPIRED_ANSWER_IDS,
  'conversation-starts': OLD_CONVERSATION_STARTS,
  tombstones: OLD_TOMBSTONES,
  events: OLD_EVENTS,
  deliveries: OLD_DELIVERIES,
  mails: ENDED_MAILS,
  'profile-changes': OLD_PROFILE_CHANGES,
};

interface RetentionDeps extends RoundDeps {
  storage: Storage;
  metrics: RoundDeps['metrics'] & Pick<Metrics, 'expired' | 'databaseClockSkew'>;
  /** This process's clock. */
  now?: () => Date;
}

/**
 * Deletes expired rows and the rows of deleted tenants until the signal is aborted. Several workers may run at once:
 * they lock different rows.
 */
export async function runRetention(deps: RetentionDeps): Promise<void> {
  const retention = createRetention(deps);
  await runRounds({ ...deps, failure: 'retention failed; will retry', retryMs: RETRY_MS }, async () => {
    await retention.run();
    return retention.pauseMs(EVERY_MS);
  });
  await retention.ended();
}

/**
 * Creates the loop that deletes expired answers and conversations, then old events, changes of profiles and the like, and the
 * rows of deleted tenants. The kinds take turns, and so do the tenants. Its `run` ends when all are deleted, and then throws if
 * a kind failed as a whole.
 *
 * Deletes no rows by age while the clocks differ: one of them may have jumped ahead, and a deletion cannot be undone.
 */
export function createRetention(deps: RetentionDeps): Omit<TenantRounds, 'run'> & { run(): Promise<void> } {
  const { storage, metrics, log, signal, now = () => new Date() } = deps;
  const clock = { storage, metrics, log, now };
  const rounds = (work: TenantWork) => createTenantRounds(deps, work);
  const byAge = [
    ...EXPIRY.map(expiry => rounds(expiring(expiry, { ...clock, signal }))),
    ...Object.entries(OLD).map(([name, rows]) => rounds(forgetting(name, rows, { ...clock, signal }))),
  ];
  const erasing = rounds(erasure(deps));
  const all = [...byAge, erasing];
  return {
    async run() {
      let failure: unknown;
      let left = (await clocksAgree(clock)) ? all : [erasing];
      while (left.length > 0 && !signal.aborted) {
        const more: TenantRounds[] = [];
        for (const one of left)
          try {
            if (!signal.aborted && (await one.run())) more.push(one);
          } catch (error) {
            failure ??= error;
          }
        left = more;
      }
      if (failure) throw failure;
    },
    pauseMs: everyMs => Math.min(...all.map(one => one.pauseMs(everyMs))),
    ended: async () => (await Promise.all(all.map(one => one.ended()))).flat(),
  };
}

type BatchDeps = ClockDeps & Pick<RetentionDeps, 'signal'>;

/** Deleting a tenant's rows beyond its retention. */
export const expiring = ({ kind, expire, trim }: Expiry, { storage, metrics, now, signal }: BatchDeps): TenantWork => ({
  loop: `retention-${kind}`,
  list: () => listTenantsWithRetention(storage),
  batch: async tenantId => {
    const trimmed = trim ? await trim(storage, tenantId, now()) : 0;
    const deleted = trimmed > 0 ? 0 : await expire(storage, tenantId, now());
    if (deleted > 0) metrics.expired.inc({ kind }, deleted);
    if (trimmed + deleted === 0) return 'done';
    await pause(PAUSE_MS, signal);
    return 'more';
  },
});

/** Deleting rows by their age, those of all tenants together. */
export const forgetting = (name: string, rows: OldRows, { storage, now, signal }: BatchDeps): TenantWork => {
  const outcomeOf = async (deleted: number) => {
    if (deleted === 0) return 'done';
    await pause(PAUSE_MS, signal);
    return 'more';
  };
  return {
    loop: `retention-${name}`,
    list: () => rows.list(storage, now()),
    batch: async tenantId => outcomeOf(await rows.forgetOf(storage, now(), tenantId)),
    together: async except => outcomeOf(await rows.forget(storage, now(), except)),
  };
};

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
