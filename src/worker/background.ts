import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Storage } from '../storage/orm.ts';
import { runAssignment } from './assign.ts';
import { runCardValues } from './card-values.ts';
import { runRetention } from './retention.ts';
import { runSearchIndexing } from './search-index.ts';
import { runSequencer } from './sequencer.ts';
import { runTimers } from './wake.ts';

interface BackgroundDeps {
  /** As `parley_worker`. */
  storage: Storage;
  /** As `parley_app`. */
  tenants: Storage;
  metrics: Metrics;
  log: Log;
  signal: AbortSignal;
}

/** Work that a worker does on its own, as a step of its shutdown. */
export interface BackgroundWork {
  name: string;
  limitMs: number;
  run(): Promise<void>;
}

/** Starts the work that no job requests. Each part ends after the signal is aborted. */
export function startBackgroundWork({ tenants, ...deps }: BackgroundDeps): BackgroundWork[] {
  const work = {
    retention: runRetention(deps),
    'search indexing': runSearchIndexing({ ...deps, storage: tenants }),
    timers: runTimers(deps),
    'numbering events': runSequencer(deps),
    'card values': runCardValues(deps),
    assignment: runAssignment({ ...deps, tenants }),
  };
  return Object.entries(work).map(([name, ended]) => ({ name, limitMs: 3000, run: () => ended }));
}
