import type { Storage } from './orm.ts';

/**
 * Moves the questions of all tenants whose schedule has started or ended, and returns their number. For the worker. The
 * clock decides on cards, so a late move only delays the status.
 */
export async function moveScheduledQuestions(storage: Storage): Promise<number> {
  const [row] = await storage.query<{ count: number }>('select move_scheduled_questions() as count');
  return row?.count ?? 0;
}
