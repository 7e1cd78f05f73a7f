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
/** How often all events are read, not only those since the last complete run. */
const READ_ALL_EVERY_MS = 60_000;
/** By how much the clock of the database may step back until all events are read again. */
const STEP_BACK_MS = 10_000;

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
  const sequencer = createSequencer(storage);
  let busyUntil = 0;
  await runRounds({ log, signal, failure: 'numbering events failed; will retry', retryMs: RETRY_MS }, async () => {
    const count = await sequencer.run();
    metrics.events.inc(count);
    if (count > 0) busyUntil = performance.now() + BUSY_FOR_MS;
    if (count === NUMBERED_AT_ONCE) return 0;
    return performance.now() < busyUntil ? BUSY_MS : IDLE_MS;
  });
}

/** Numbers one batch of events per run, and remembers up to which time all are numbered. */
export function createSequencer(storage: Storage) {
  let since: Date | null = null;
  let readAllAt = 0;
  return {
    /** Returns the number of events that were numbered. */
    async run(): Promise<number> {
      if (performance.now() >= readAllAt) {
        since = null;
        readAllAt = performance.now() + READ_ALL_EVERY_MS;
      }
      const { count, completeUntil } = await numberEvents(storage, since);
      if (completeUntil) since = new Date(completeUntil.getTime() - STEP_BACK_MS);
      return count;
    },
  };
}
