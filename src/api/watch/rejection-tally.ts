import type { Log } from '../../platform/log.ts';
import { countRejected } from '../../storage/ingestion.ts';
import type { Storage } from '../../storage/orm.ts';

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
    try {
      await countRejected(storage, taken);
    } catch (error) {
      for (const [tenantId, count] of taken) add(tenantId, count);
      log.debug({ reason: (error as Error).message }, 'could not write the count of rejected answers; will retry');
    }
  };
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
