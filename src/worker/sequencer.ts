import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { NUMBERED_AT_ONCE, numberEvents } from '../storage/events.ts';
import type { Storage } from '../storage/orm.ts';
import { runRounds } from './rounds.ts';

/** Pause between two runs while events are written, and otherwise: a run without events reads one entry of an index. */
const BUSY_MS = 50;
const IDLE_MS = 150;
const RETRY_MS = 2000;
/** How long after the last event runs follow each other quickly. */
const BUSY_FOR_MS = 5000;

interface SequencerDeps {
  /** As `parley_worker`. */
  storage: Storage;
  metrics: Pick<Metrics, 'events'>;
  log: Log;
  signal: AbortSignal;
}

/**
 * Numbers the tenants' events until the signal is aborted. Several workers may run at once: one of them numbers, and when
 * it ends, the next run of any other one continues.
 */
export async function runSequencer({ storage, metrics, log, signal }: SequencerDeps): Promise<void> {
  let busyUntil = 0;
  await runRounds({ log, signal, failure: 'numbering events failed; will retry', retryMs: RETRY_MS }, async () => {
    const { count, remain } = await numberEvents(storage);
    metrics.events.inc(count);
    if (count > 0 || remain) busyUntil = performance.now() + BUSY_FOR_MS;
    if (count >= NUMBERED_AT_ONCE) return 0;
    return performance.now() < busyUntil ? BUSY_MS : IDLE_MS;
  });
}
