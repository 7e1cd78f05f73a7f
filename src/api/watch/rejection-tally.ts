import type { Log } from '../../platform/log.ts';
import { describeFailure, isOutage } from '../../storage/database/errors.ts';
import type { Storage } from '../../storage/database/orm.ts';
import { countRejected } from '../../storage/upkeep/ingestion.ts';

/** Counts items rejected on receipt, by tenant, and adds them to the totals in batches. */
export interface RejectionTally {
  add(tenantId: string, count: number): void;
  close(): Promise<void>;
}

const WRITE_EVERY_MS = 1000;

/** Approximate: a killed process loses up to a second of counts. */
export function createRejectionTally(storage: Storage, log: Log): RejectionTally {
  let counts = new Map<string, number>();
  const add = (tenantId: string, count: number) => void counts.set(tenantId, (counts.get(tenantId) ?? 0) + count);

  const write = async () => {
    if (counts.size === 0) return;
    const taken = counts;
    counts = new Map();
    await writeCounts(taken);
  };

  /** Writes the counts of tenants together, or one by one if that fails, so that one tenant does not keep those of others. */
  async function writeCounts(taken: ReadonlyMap<string, number>): Promise<void> {
    try {
      await countRejected(storage, taken);
    } catch (error) {
      if (taken.size > 1 && !isOutage(error)) {
        for (const one of taken) await writeCounts(new Map([one]));
        return;
      }
      for (const [tenantId, count] of taken) add(tenantId, count);
      log.debug(describeFailure(error), 'could not write the count of rejected answers; will retry');
    }
  }
  const timer = setInterval(write, WRITE_EVERY_MS);
  timer.unref();

  return {
    add,
    async close() {
      clearInterval(timer);
      await write();
    },
  };
}
