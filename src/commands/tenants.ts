import { parseTypeId, toTypeId } from '../domain/ids.ts';
import { NewTenant, presentTenant } from '../domain/tenants.ts';
import { listTenantIds } from '../storage/answers/results.ts';
import { findTenant, insertTenant } from '../storage/tenants/tenants.ts';
import {
  addDeleted,
  awaitLastWrites,
  type Deleted,
  deleteTenant,
  eraseDeletedTenant,
  findDeletion,
} from '../storage/upkeep/deleted-tenants.ts';
import { type CommandContext, withAuditEntry } from './command.ts';
import { parseOptions } from './parse-options.ts';
import { noSuchTenant, type TenantOption } from './tenant-option.ts';
import { UsageError } from './usage-error.ts';

/** `tenant create --name N`: creates a tenant and prints it. */
export async function createTenant(context: CommandContext, options: { name: string }) {
  const { name } = parseOptions(NewTenant, { name: options.name });
  return withAuditEntry(context, 'tenant.created', async storage => {
    const row = await insertTenant(storage, name, context.now);
    return { tenantId: row.id, shown: presentTenant(row) };
  });
}

/** `tenant list`: lists all tenants, oldest first. */
export async function listTenants({ storage }: CommandContext) {
  const data = [];
  for (const id of await listTenantIds(storage)) {
    const row = await findTenant(storage.forTenant(id));
    if (row) data.push(presentTenant(row));
  }
  return { data };
}

/** Marks the tenant as deleted, unless done before, and returns the deleted rows. The name confirms the intention. */
async function endTenant({ storage }: CommandContext, id: string, confirm: string | undefined): Promise<Deleted> {
  const tenant = storage.forTenant(id);
  const row = await findTenant(tenant);
  if (row && !confirm) throw new UsageError('--confirm is required');
  if (row && confirm !== row.name)
    throw new UsageError(`--confirm: does not match the tenant's name, which is "${row.name}"`);
  return (row && (await deleteTenant(tenant))) ?? {};
}

/** How often progress is reported. */
const LOG_EVERY_MS = 2000;

/**
 * `tenant delete --tenant T --confirm NAME`: permanently deletes a tenant and all its data, while everything runs.
 *
 * It can be killed and repeated. The first transaction removes the tenant; the rest is deleted in batches, also by a
 * worker. Prints the rows deleted by this call, by table.
 */
export async function removeTenant(context: CommandContext, options: TenantOption & { confirm?: string | undefined }) {
  const id = parseTypeId('tenant', options.tenant);
  if (id === undefined) throw noSuchTenant();
  return eraseTenant(context, id, await endTenant(context, id, options.confirm));
}

/** Deletes the remaining rows of a deleted tenant. `deleted` are those deleted with it. */
export async function eraseTenant({ storage, report }: CommandContext, id: string, deleted: Deleted) {
  const deletedAt = await findDeletion(storage, id);
  if (!deletedAt) throw noSuchTenant();
  report('The tenant, its API keys and its team are deleted. Deleting its data.');
  if (!(await awaitLastWrites(storage, deletedAt)))
    report('A transaction is still open. Anything it writes for this tenant is deleted later by a worker.');
  const progress = createProgress(report);
  for await (const batch of eraseDeletedTenant(storage, id)) {
    addDeleted(deleted, batch);
    progress(deleted);
  }
  return { id: toTypeId('tenant', id), deleted_at: deletedAt, deleted };
}

/** Reports the number of deleted rows at intervals. */
function createProgress(report: (line: string) => void) {
  let loggedAt = performance.now();
  return (deleted: Deleted): void => {
    if (performance.now() - loggedAt < LOG_EVERY_MS) return;
    loggedAt = performance.now();
    report(`${Object.values(deleted).reduce((sum, rows) => sum + rows, 0)} rows deleted`);
  };
}
