import { toTypeId } from '../domain/ids.ts';
import type { Storage } from '../storage/database/orm.ts';
import { addDeleted, type Deleted, eraseBatch, listDeletedTenants } from '../storage/upkeep/deleted-tenants.ts';
import { pause } from './rounds.ts';
import type { RoundDeps, TenantWork } from './tenant-rounds.ts';

interface ErasureDeps extends Pick<RoundDeps, 'log' | 'signal'> {
  storage: Storage;
}

/**
 * Deleting the remaining rows of deleted tenants: the deletion was interrupted, or a process that had not received the
 * notice wrote later. Queries each table once per deleted tenant. Pauses after each batch for as long as it took.
 */
export function erasure({ storage, log, signal }: ErasureDeps): TenantWork {
  const erased = new Map<string, Deleted>();
  return {
    loop: 'erasure',
    list: () => listDeletedTenants(storage),
    batch: async tenantId => {
      const startedAt = performance.now();
      const batch = await eraseBatch(storage, tenantId);
      const rows = erased.get(tenantId) ?? {};
      if (Object.keys(batch).length > 0) {
        addDeleted(rows, batch);
        erased.set(tenantId, rows);
        await pause(performance.now() - startedAt, signal);
        return 'more';
      }
      if (erased.delete(tenantId))
        log.info({ tenant: toTypeId('tenant', tenantId), rows }, 'deleted the remaining data of a deleted tenant');
      return 'done';
    },
  };
}
