import type { IsolatedAnswer, RecordAnswers } from './jobs.ts';

/**
 * How many of a tenant's oldest pending flushes a read returns. More than a worker stores between the read of the queue
 * and that of the database, so that what was stored in between is found among them.
 */
export const HEADS = 200;

/** Answers of one tenant that are queued: those of a flush, or one that is isolated. */
export interface PendingAnswers {
  flush: string;
  /** The flush that an isolated answer came with. */
  part_of?: string;
  count: number;
  /** When the first of them was received. */
  oldest: Date;
}

/** A tenant's answers in the queue. */
export interface Pending {
  /** How many, with those of `heads`. */
  count: number;
  /** The oldest, at most `HEADS`, oldest first. */
  heads: PendingAnswers[];
}

/** What the registry of pending answers holds of one job. */
export interface PendingEntry {
  part_of?: string;
  /** Tenant, number of answers, and when the first of them was received, in milliseconds since 1970. */
  tenants: [tenantId: string, count: number, oldestMs: number][];
}

/** The entry of a flush. A replay has none: it is counted in the quarantine, where it still is. */
export function entryOfFlush({ answers }: RecordAnswers): PendingEntry {
  const byTenant = new Map<string, [string, number, number]>();
  for (const { tenant_id, received_at, replay_of } of answers) {
    if (replay_of) continue;
    const receivedMs = Date.parse(received_at);
    const known = byTenant.get(tenant_id);
    if (!known) byTenant.set(tenant_id, [tenant_id, 1, receivedMs]);
    else {
      known[1]++;
      if (receivedMs < known[2]) known[2] = receivedMs;
    }
  }
  return { tenants: [...byTenant.values()] };
}

/** The entry of an isolated answer. */
export const entryOfPart = ({ part_of, tenant_id, received_at, replay_of }: IsolatedAnswer): PendingEntry => ({
  part_of,
  tenants: replay_of ? [] : [[tenant_id, 1, Date.parse(received_at)]],
});
