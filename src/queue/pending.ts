import type { IsolatedAnswer, RecordAnswers } from './jobs.ts';

/**
 * How many of a tenant's oldest pending flushes a read returns. More than a worker stores between reading the queue and
 * reading the database, so flushes stored in between are among them.
 */
export const HEADS = 200;

/** Queued answers of one tenant: those of a flush, or one isolated answer. */
export interface PendingAnswers {
  flush: string;
  /** The flush that an isolated answer belongs to. */
  part_of?: string;
  count: number;
  /** When the first of them was received. */
  oldest: Date;
}

/** A tenant's answers in the queue. */
export interface Pending {
  /** Total number, including `heads`. */
  count: number;
  /** The oldest, at most `HEADS`, oldest first. */
  heads: PendingAnswers[];
}

/** The registry's entry for one job. */
export interface PendingEntry {
  part_of?: string;
  /** Tenant, number of answers, and when the first of them was received, in milliseconds since 1970. */
  tenants: [tenantId: string, count: number, oldestMs: number][];
}

/** The entry of a flush. Replays are left out: they are still counted in the quarantine. */
export function entryOfFlush({ answers }: RecordAnswers): PendingEntry {
  const byTenant = new Map<string, { count: number; oldest: string }>();
  for (const { tenant_id, received_at, replay_of } of answers) {
    if (replay_of) continue;
    const known = byTenant.get(tenant_id);
    if (!known) byTenant.set(tenant_id, { count: 1, oldest: received_at });
    else {
      known.count++;
      if (received_at < known.oldest) known.oldest = received_at; // ISO 8601 in UTC: sorted as texts
    }
  }
  return { tenants: Array.from(byTenant, ([tenantId, { count, oldest }]) => [tenantId, count, Date.parse(oldest)]) };
}

/** The entry of an isolated answer. */
export const entryOfPart = ({ part_of, tenant_id, received_at, replay_of }: IsolatedAnswer): PendingEntry => ({
  part_of,
  tenants: replay_of ? [] : [[tenant_id, 1, Date.parse(received_at)]],
});
