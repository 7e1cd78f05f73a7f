import { createThrottle, type Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { Storage } from '../../storage/database/orm.ts';
import { findOldestWriter, oldestOpenWrite } from '../../storage/upkeep/housekeeping.ts';

/** Open transactions older than this are reported to the operator. Parley's own end after 10 s. */
const REPORTED_FROM_S = 60;
/** Minimum time between two reports of one process. */
const REPORT_EVERY_MS = 60_000;

/** The range of an incremental read: rows changed at or after `since` and before `before`. */
export interface UpdatedWindow {
  since: Date;
  before: Date;
}

/** Lists with `updated_since`, which end before the oldest open write so that they never skip one. */
export interface IncrementalReads {
  /** Returns the window of a list; undefined for a list without `updated_since`. */
  open(since: Date | undefined): Promise<UpdatedWindow | undefined>;
}

/** For tests: the clock that limits the reports, and the age from which a transaction is reported. */
export interface ReportOptions {
  now?: () => number;
  reportedFromS?: number;
}

/** Reports an open transaction that delays incremental reads: as a metric, and in the log when a reader is affected. */
export function createIncrementalReads(
  storage: Storage,
  metrics: Metrics,
  log: Log,
  { now = Date.now, reportedFromS = REPORTED_FROM_S }: ReportOptions = {},
): IncrementalReads {
  const throttle = createThrottle(REPORT_EVERY_MS, now);

  metrics.onScrape(async () => metrics.oldestOpenWrite.set((await findOldestWriter(storage))?.age_s ?? 0));

  const report = async (): Promise<void> => {
    const writer = await findOldestWriter(storage);
    if (!writer || writer.age_s < reportedFromS) return;
    throttle('open write', () =>
      log.warn(
        { ...writer, age_s: Math.round(writer.age_s) },
        'updated_since returns no newer changes: a database transaction has been open since then (runbook: ParleyOpenTransaction)',
      ),
    );
  };

  return {
    async open(since) {
      if (!since) return undefined;
      const before = await oldestOpenWrite(storage);
      if (now() - before.getTime() > reportedFromS * 1000) await report();
      return { since, before };
    },
  };
}

type Headers = Record<string, string | string[]>;

/** Adds `Updated-Until` to a page: once `has_more` is false, the pages contain every change before it. */
export function withUpdatedUntil<Page extends { headers?: Headers }>(page: Page, updated?: UpdatedWindow): Page {
  if (updated) page.headers = { ...page.headers, 'Updated-Until': updated.before.toISOString() };
  return page;
}
