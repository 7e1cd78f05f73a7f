import type { Storage } from '../database/orm.ts';
import { listTenantsWith } from '../tenants/tenants.ts';

/** Maximum number of questions that one transaction starts, and that it ends. */
export const SCHEDULED_AT_ONCE = 500;

/** Returns the tenants with questions whose schedule has started or ended. For the worker. */
export const listTenantsToSchedule = (storage: Storage): Promise<string[]> =>
  listTenantsWith(storage, 'tenants_to_schedule');

/**
 * Moves a batch of a tenant's questions whose schedule has started or ended, and returns their number. For the worker. The
 * clock decides on cards, so a late move only delays the status.
 */
export async function moveScheduledQuestions(storage: Storage, tenantId: string): Promise<number> {
  const [row] = await storage.query<{ count: number }>('select move_scheduled_questions($1, $2) as count', [
    tenantId,
    SCHEDULED_AT_ONCE,
  ]);
  return row?.count ?? 0;
}
