import type { Storage } from '../../storage/database/orm.ts';

/** The durability of the database. It matters with either queue store, because every answer ends there. */
export interface DatabaseDurability {
  /** Why PostgreSQL may lose confirmed commits, as last read; empty when it does not, or was never reached. */
  reasons(): readonly string[];
  /** Reads the settings, which a reload may change at any time. Rejects when the database is unreachable. */
  refresh(): Promise<void>;
}

/** While the database is unreachable, the last reasons remain: such settings often take effect by a restart. */
export function watchDatabaseDurability(storage: Pick<Storage, 'findLaxSettings'>): DatabaseDurability {
  let reasons: readonly string[] = [];
  return {
    reasons: () => reasons,
    async refresh() {
      reasons = await storage.findLaxSettings();
    },
  };
}
