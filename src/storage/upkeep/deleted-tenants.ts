import { setTimeout as sleep } from 'node:timers/promises';
import type { Storage, TenantStorage } from '../database/orm.ts';
import { oldestOpenWrite } from './housekeeping.ts';

/** Deleted rows by table. */
export type Deleted = Record<string, number>;

/** Maximum number of rows deleted per transaction. */
const ROWS_AT_ONCE = 1000;
/** Within this time, every process has received the revocation of the keys. */
const NOTICE_DELAY_MS = 1000;
const POLL_EVERY_MS = 200;
/** Longer than any transaction of Parley stays open. */
const LAST_WRITES_TIMEOUT_MS = 30_000;

/**
 * Deletes a tenant permanently in one transaction: the tenant itself, its keys, members and invitations, and persons
 * without another membership. Returns the deleted rows; `undefined` when there is no such tenant.
 *
 * All other rows become inaccessible and are left to `eraseDeletedTenant`.
 */
export const deleteTenant = async (tenant: TenantStorage): Promise<Deleted | undefined> =>
  (await tenant.query<{ deleted: Deleted | null }>('select delete_tenant() as deleted'))[0]?.deleted ?? undefined;

/** Returns when a tenant was deleted; `undefined` when it was not. */
export const findDeletion = async (storage: Storage, id: string): Promise<Date | undefined> =>
  (await storage.query<{ deleted_at: Date }>('select deleted_at from deleted_tenants where id = $1', [id]))[0]
    ?.deleted_at;

/** Returns the ids of all deleted tenants. */
export const listDeletedTenants = async (storage: Storage): Promise<string[]> =>
  (await storage.query<{ id: string }>('select id from deleted_tenants order by id')).map(({ id }) => id);

/** Resolves to true once no open transaction can still write for the deleted tenant, to false on timeout. */
export async function awaitLastWrites(storage: Storage, deletedAt: Date): Promise<boolean> {
  const silentFrom = deletedAt.getTime() + NOTICE_DELAY_MS;
  for (const deadline = Date.now() + LAST_WRITES_TIMEOUT_MS; Date.now() < deadline; await sleep(POLL_EVERY_MS))
    if ((await oldestOpenWrite(storage)).getTime() > silentFrom) return true;
  return false;
}

/** Deletes a batch of a deleted tenant's remaining rows, and returns them. */
export async function eraseBatch(storage: Storage, id: string): Promise<Deleted> {
  const [batch] = await storage.query<{ erased: Deleted }>('select erase_deleted_tenant($1, $2) as erased', [
    id,
    ROWS_AT_ONCE,
  ]);
  return batch?.erased ?? {};
}

/**
 * Deletes a deleted tenant's remaining rows from all tables, and yields the rows of each batch.
 *
 * Pauses for as long as each batch took, so that other work is not delayed. Several processes may run it: they lock
 * different rows.
 */
export async function* eraseDeletedTenant(storage: Storage, id: string): AsyncGenerator<Deleted> {
  for (;;) {
    const startedAt = performance.now();
    const batch = await eraseBatch(storage, id);
    if (Object.keys(batch).length === 0) return;
    yield batch;
    await sleep(performance.now() - startedAt);
  }
}

/** Adds one count of rows to another. */
export function addDeleted(sum: Deleted, more: Deleted): void {
  for (const [table, rows] of Object.entries(more)) sum[table] = (sum[table] ?? 0) + rows;
}
