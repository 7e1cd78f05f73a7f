import { toTypeId } from '../domain/ids.ts';
import type { Log } from '../platform/log.ts';
import { addDeleted, type Deleted, eraseDeletedTenant, listDeletedTenants } from '../storage/deleted-tenants.ts';
import type { Storage } from '../storage/orm.ts';

interface ErasureDeps {
  storage: Storage;
  log: Log;
  signal: AbortSignal;
}

/**
 * Deletes remaining rows of deleted tenants: the deletion was interrupted, or a process that had not received the
 * notice wrote later. Queries each table once per deleted tenant.
 */
export async function eraseDeleted({ storage, log, signal }: ErasureDeps): Promise<void> {
  for (const id of await listDeletedTenants(storage)) {
    const rows: Deleted = {};
    for await (const batch of eraseDeletedTenant(storage, id)) {
      addDeleted(rows, batch);
      if (signal.aborted) break;
    }
    if (Object.keys(rows).length > 0)
      log.info({ tenant: toTypeId('tenant', id), rows }, 'deleted the remaining data of a deleted tenant');
    if (signal.aborted) return;
  }
}
