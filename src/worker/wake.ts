import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Storage } from '../storage/orm.ts';
import { moveScheduledQuestions } from '../storage/schedules.ts';
import { resolvePending, TIMERS_AT_ONCE, wakeSnoozed } from '../storage/timers.ts';
import { runRounds } from './rounds.ts';

/** How often the worker looks for due timers. */
const EVERY_MS = 2000;
/** In how many rounds conversations without an answer of the user are looked for once: every minute. */
const ROUNDS_PER_RESOLUTION = 30;

interface TimerDeps {
  /** As `parley_worker`. */
  storage: Storage;
  metrics: Pick<Metrics, 'conversationsWoken' | 'conversationsAutoResolved'>;
  log: Log;
  signal: AbortSignal;
}

/**
 * Wakes snoozed conversations, resolves those that wait for their user for too long, and moves questions by their schedule,
 * until the signal is aborted. Several workers may run at once: they lock different rows.
 */
export async function runTimers(deps: TimerDeps): Promise<void> {
  let rounds = 0;
  await runRounds({ ...deps, failure: 'timers of conversations failed; will retry', retryMs: EVERY_MS }, async () => {
    const resolves = rounds++ % ROUNDS_PER_RESOLUTION === 0;
    await wakeDue(deps);
    await moveScheduledQuestions(deps.storage);
    if (resolves) await resolveDue(deps);
    return EVERY_MS;
  });
}

/** Wakes all conversations whose time has come, in batches. */
export const wakeDue = ({ storage, metrics, signal }: Omit<TimerDeps, 'log'>): Promise<void> =>
  inBatches(signal, () => wakeSnoozed(storage), metrics.conversationsWoken);

/** Resolves all conversations that have waited for their user for too long, in batches. */
export const resolveDue = ({ storage, metrics, signal }: Omit<TimerDeps, 'log'>): Promise<void> =>
  inBatches(signal, () => resolvePending(storage), metrics.conversationsAutoResolved);

async function inBatches(
  signal: AbortSignal,
  moveBatch: () => Promise<number>,
  counter: { inc(by: number): void },
): Promise<void> {
  for (let moved = TIMERS_AT_ONCE; moved >= TIMERS_AT_ONCE && !signal.aborted; ) {
    moved = await moveBatch();
    counter.inc(moved);
  }
}
