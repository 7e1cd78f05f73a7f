import type { Metrics } from '../platform/metrics.ts';
import {
  listTenantsToResolve,
  listTenantsToWake,
  resolvePending,
  TIMERS_AT_ONCE,
  wakeSnoozed,
} from '../storage/conversations/timers.ts';
import type { Storage } from '../storage/database/orm.ts';
import { listTenantsToSchedule, moveScheduledQuestions, SCHEDULED_AT_ONCE } from '../storage/questions/schedules.ts';
import { type Outcome, type RoundDeps, runTenantRounds, type TenantWork } from './tenant-rounds.ts';

/** How often the worker looks for due timers and schedules. */
const EVERY_MS = 2000;
/** How often it looks for conversations without an answer of the user. */
const RESOLVE_EVERY_MS = 60_000;
const FAILURE = 'timers of conversations failed; will retry';

interface TimerDeps extends RoundDeps {
  /** As `parley_worker`. */
  storage: Storage;
  metrics: RoundDeps['metrics'] & Pick<Metrics, 'conversationsWoken' | 'conversationsAutoResolved'>;
}

/**
 * Wakes snoozed conversations, resolves those that wait for their user for too long, and moves questions by their schedule,
 * until the signal is aborted. Several workers may run at once: they lock different rows.
 */
export async function runTimers(deps: TimerDeps): Promise<void> {
  await Promise.all([
    runTenantRounds(deps, snoozes(deps), { everyMs: EVERY_MS, failure: FAILURE }),
    runTenantRounds(deps, silence(deps), { everyMs: RESOLVE_EVERY_MS, failure: FAILURE }),
    runTenantRounds(deps, schedules(deps), { everyMs: EVERY_MS, failure: FAILURE }),
  ]);
}

/** If no row was moved although some are due, others have locked them. */
const outcomeOf = (moved: number, atOnce: number): Outcome => {
  if (moved === 0) return 'blocked';
  return moved < atOnce ? 'done' : 'more';
};

type WorkDeps = Pick<TimerDeps, 'storage' | 'metrics'>;

/** Waking the snoozed conversations whose time has come. */
export const snoozes = ({ storage, metrics }: WorkDeps): TenantWork => ({
  loop: 'snoozes',
  list: () => listTenantsToWake(storage),
  batch: async tenantId => {
    const moved = await wakeSnoozed(storage, tenantId);
    metrics.conversationsWoken.inc(moved);
    return outcomeOf(moved, TIMERS_AT_ONCE);
  },
});

/** Resolving the conversations that have waited for their user for too long. */
export const silence = ({ storage, metrics }: WorkDeps): TenantWork => ({
  loop: 'auto-resolve',
  list: () => listTenantsToResolve(storage),
  batch: async tenantId => {
    const moved = await resolvePending(storage, tenantId);
    metrics.conversationsAutoResolved.inc(moved);
    return outcomeOf(moved, TIMERS_AT_ONCE);
  },
});

/** Starting and ending questions by their schedule. */
export const schedules = ({ storage }: Pick<TimerDeps, 'storage'>): TenantWork => ({
  loop: 'schedules',
  list: () => listTenantsToSchedule(storage),
  batch: async tenantId => outcomeOf(await moveScheduledQuestions(storage, tenantId), SCHEDULED_AT_ONCE),
});
