import type { Storage } from './orm.ts';

/** Maximum number of questions that one transaction starts, and that it ends. */
export const SCHEDULED_AT_ONCE = 500;

/** Returns the tenants with questions whose schedule has started or ended. For the worker. */
export const listTenantsToSchedule = async (storage: Storage): Promise<string[]> =>
  (await storage.query<{ id: string }>('select tenants_to_schedule() as id')).map(({ id }) => id);

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
