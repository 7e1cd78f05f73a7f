import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { describeFailure, isOutage } from '../storage/database/errors.ts';
import type { Storage } from '../storage/database/orm.ts';
import {
  holdEvents,
  listHeldTenants,
  NUMBERED_AT_ONCE,
  type Numbered,
  numberEvents,
  numberHeldEvents,
} from '../storage/events/events.ts';
import { runRounds } from './rounds.ts';
import { createTenantRounds, type RoundDeps } from './tenant-rounds.ts';

/** Pause between two runs while events are written, and otherwise: a run without events reads one entry of an index. */
const BUSY_MS = 50;
const IDLE_MS = 150;
const RETRY_MS = 2000;
/** How long after the last event runs follow each other quickly. */
const BUSY_FOR_MS = 5000;
/** Statement time-out of a run: meanwhile, the events of all tenants wait. A full batch takes 50 ms. */
const RUN_MS = 3000;

interface SequencerDeps extends RoundDeps {
  /** As `parley_worker`. */
  storage: Storage;
  metrics: RoundDeps['metrics'] & Pick<Metrics, 'events'>;
}

/**
 * Numbers the tenants' events until the signal is aborted. Several workers may run at once: one of them numbers, and when
 * it ends, the next run of any other one continues.
 *
 * All tenants' events are numbered together. If that fails, the tenants of that batch are held, and numbered one by one.
 */
export async function runSequencer({ storage, ...deps }: SequencerDeps): Promise<void> {
  const { metrics, log, signal } = deps;
  const quick = storage.maintaining(RUN_MS);
  const held = createTenantRounds(deps, {
    loop: 'events',
    list: () => listHeldTenants(quick),
    batch: async tenantId => {
      const { count, remain } = await numberHeldEvents(quick, tenantId);
      metrics.events.inc(count);
      if (remain) return count > 0 ? 'more' : 'blocked';
      return 'done';
    },
  });
  let busyUntil = 0;
  await runRounds({ log, signal, failure: 'numbering events failed; will retry', retryMs: RETRY_MS }, async () => {
    const { count, remain, hasHeld } = await numberOrHold(quick, log);
    metrics.events.inc(count);
    if (count > 0 || remain) busyUntil = performance.now() + BUSY_FOR_MS;
    if (hasHeld) await held.run();
    if (count >= NUMBERED_AT_ONCE) return 0;
    return performance.now() < busyUntil ? BUSY_MS : IDLE_MS;
  });
  await held.ended();
}

/** Numbers the events of all tenants that are not held, or holds those of the next batch if that fails. */
async function numberOrHold(storage: Storage, log: Log): Promise<Numbered> {
  try {
    return await numberEvents(storage);
  } catch (error) {
    if (isOutage(error)) throw error;
    await holdEvents(storage);
    log.warn({ loop: 'events', ...describeFailure(error) }, 'background work of all tenants failed; trying each');
    return { count: 0, remain: true, hasHeld: false }; // those that are not held come first
  }
}
