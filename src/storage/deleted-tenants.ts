import { setTimeout as sleep } from 'node:timers/promises';
import { oldestOpenWrite } from './housekeeping.ts';
import type { Storage, TenantStorage } from './orm.ts';

/** How many rows of each table were deleted. */
export type Deleted = Record<string, number>;

/** How many rows one transaction deletes at most. */
const ROWS_AT_ONCE = 1000;
/** Within so long every process has heard that the keys are gone. */
const NOTICE_DELAY_MS = 1000;
const POLL_EVERY_MS = 200;
/** No transaction of Parley's own is open for so long. */
const LAST_WRITES_TIMEOUT_MS = 30_000;

/**
 * Ends a tenant for good, in one transaction: the tenant itself, its keys, members and invitations, and the persons who
 * belong to no other. Gives what it deleted; `undefined` when there is no such tenant.
 *
 * Whatever else it has is out of everybody's reach from then on, and is left to `eraseDeletedTenant`.
 */
export const deleteTenant = async (tenant: TenantStorage): Promise<Deleted | undefined> =>
  (await tenant.query<{ deleted: Deleted | null }>('select delete_tenant() as deleted'))[0]?.deleted ?? undefined;

/** When a tenant was deleted; `undefined` when it was not. */
export const findDeletion = async (storage: Storage, id: string): Promise<Date | undefined> =>
  (await storage.query<{ deleted_at: Date }>('select deleted_at from deleted_tenants where id = $1', [id]))[0]
    ?.deleted_at;

/** Every tenant that was deleted. */
export const listDeletedTenants = async (storage: Storage): Promise<string[]> =>
  (await storage.query<{ id: string }>('select id from deleted_tenants order by id')).map(({ id }) => id);

/**
 * Resolves when nobody writes for a tenant any more that was deleted at that time: with whether that is so, and not
 * just the time up because somebody holds another transaction open.
 */
export async function awaitLastWrites(storage: Storage, deletedAt: Date): Promise<boolean> {
  const silentFrom = deletedAt.getTime() + NOTICE_DELAY_MS;
  for (const deadline = Date.now() + LAST_WRITES_TIMEOUT_MS; Date.now() < deadline; await sleep(POLL_EVERY_MS))
    if ((await oldestOpenWrite(storage)).getTime() > silentFrom) return true;
  return false;
}

/**
 * Deletes what a deleted tenant has left in any table, batch by batch, and gives each; ends when nothing is left.
 *
 * It rests as long as it worked, so that others find the database free. Several may: they take different rows.
 */
export async function* eraseDeletedTenant(storage: Storage, id: string): AsyncGenerator<Deleted> {
  for (;;) {
    const startedAt = performance.now();
    const [batch] = await storage.query<{ erased: Deleted }>('select erase_deleted_tenant($1, $2) as erased', [
      id,
      ROWS_AT_ONCE,
    ]);
    if (!batch || Object.keys(batch.erased).length === 0) return;
    yield batch.erased;
    await sleep(performance.now() - startedAt);
  }
}

/** Adds one count of rows to another. */
export function addDeleted(sum: Deleted, more: Deleted): void {
  for (const [table, rows] of Object.entries(more)) sum[table] = (sum[table] ?? 0) + rows;
}
