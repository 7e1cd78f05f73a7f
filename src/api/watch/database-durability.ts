import type { Storage } from '../../storage/orm.ts';

/** What is known of the database's durability, whichever store carries the queue: every answer ends in it. */
export interface DatabaseDurability {
  /** Why PostgreSQL may lose what it has confirmed, as last seen; empty when it does not, or was never reached. */
  reasons(): readonly string[];
  /** Reads the settings, which a reload may change at any time. Rejects when the database can't be reached. */
  look(): Promise<void>;
}

/** While the database is away the last reasons hold: a restart is often how such a setting comes into effect. */
export function watchDatabaseDurability(storage: Pick<Storage, 'findLaxSettings'>): DatabaseDurability {
  let reasons: readonly string[] = [];
  return {
    reasons: () => reasons,
    async look() {
      reasons = await storage.findLaxSettings();
    },
  };
}
