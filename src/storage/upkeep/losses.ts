import type { Storage } from '../database/orm.ts';

/** A flush that was confirmed and is neither stored nor queued. */
export interface LostFlush {
  id: string;
  found_at: Date;
}

/** A stored answer that was deleted other than by Parley. */
export interface VanishedAnswer {
  tenant_id: string;
  id: string;
  vanished_at: Date;
}

/** The losses that the audits have found. */
export interface FoundLosses {
  flushes: LostFlush[];
  answers: VanishedAnswer[];
}

/**
 * Runs a statement on each tenant's rows, and returns all rows. Each tenant's transaction is separate, so that an
 * interruption leaves only whole tenants.
 */
async function onEachTenant<Row extends object>(storage: Storage, sql: string): Promise<Row[]> {
  const tenants = await storage.query<{ id: string }>('select id from tenant_ids() as id');
  const rows: Row[] = [];
  for (const { id } of tenants) rows.push(...(await storage.forTenant(id).query<Row>(sql)));
  return rows;
}

/** Returns the losses that were found and not acknowledged, oldest first. */
export const listLosses = async (storage: Storage): Promise<FoundLosses> => ({
  flushes: await storage.query<LostFlush>('select id, found_at from lost_flushes order by found_at, id'),
  answers: await onEachTenant<VanishedAnswer>(
    storage,
    'select tenant_id, id, vanished_at from vanished_answers order by vanished_at, id',
  ),
});

/** Removes the losses from the audits' lists. Returns those that it removed, and no others. */
export const acknowledgeLosses = async (storage: Storage): Promise<FoundLosses> => ({
  flushes: await storage.query<LostFlush>('delete from lost_flushes returning id, found_at'),
  answers: await onEachTenant<VanishedAnswer>(
    storage,
    'delete from vanished_answers returning tenant_id, id, vanished_at',
  ),
});
