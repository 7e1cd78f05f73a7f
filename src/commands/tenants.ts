import { parseTypeId, toTypeId } from '../domain/ids.ts';
import { NewTenant, presentTenant } from '../domain/tenants.ts';
import {
  addDeleted,
  awaitLastWrites,
  type Deleted,
  deleteTenant,
  eraseDeletedTenant,
  findDeletion,
} from '../storage/deleted-tenants.ts';
import { listTenantIds } from '../storage/results.ts';
import { findTenant, insertTenant } from '../storage/tenants.ts';
import { type CommandContext, doWithLine, type Options, required, UsageError } from './command.ts';
import { noSuchTenant } from './tenant-option.ts';

/** `tenant create --name N`: makes a tenant and gives it. */
export async function createTenant(context: CommandContext, options: Options) {
  const { name } = NewTenant.parse({ name: required(options, 'name') });
  return doWithLine(context, 'tenant.created', async storage => {
    const row = await insertTenant(storage, name, context.now);
    return { tenantId: row.id, shown: presentTenant(row) };
  });
}

/** `tenant list`: every tenant, the oldest first. */
export async function listTenants({ storage }: CommandContext) {
  const data = [];
  for (const id of await listTenantIds(storage)) {
    const row = await findTenant(storage.forTenant(id));
    if (row) data.push(presentTenant(row));
  }
  return { data };
}

/** Ends the tenant, unless that was done before, and gives what it deleted; the name stands for "I mean this one". */
async function endTenant({ storage }: CommandContext, id: string, options: Options): Promise<Deleted> {
  const tenant = storage.forTenant(id);
  const row = await findTenant(tenant);
  if (row && required(options, 'confirm') !== row.name)
    throw new UsageError(`--confirm: does not match the tenant's name, which is "${row.name}"`);
  return (row && (await deleteTenant(tenant))) ?? {};
}

/** How often it is told how far it is. */
const TELL_EVERY_MS = 2000;

/**
 * `tenant delete --tenant T --confirm NAME`: deletes everything of a tenant for good, while everything runs.
 *
 * May be killed and called again. The tenant is gone with the first transaction; the rest is deleted in batches, by a
 * worker too if need be. Gives what this call deleted, by table.
 */
export async function removeTenant(context: CommandContext, options: Options) {
  const { storage, tell } = context;
  const id = parseTypeId('tenant', required(options, 'tenant'));
  if (id === undefined) throw noSuchTenant();
  const deleted = await endTenant(context, id, options);
  const deletedAt = await findDeletion(storage, id);
  if (!deletedAt) throw noSuchTenant();
  tell('The tenant, its API keys and its team are deleted. Deleting its data.');
  if (!(await awaitLastWrites(storage, deletedAt)))
    tell('A transaction is still open. Anything it writes for this tenant is deleted later by a worker.');
  const progress = createProgress(tell);
  for await (const batch of eraseDeletedTenant(storage, id)) {
    addDeleted(deleted, batch);
    progress(deleted);
  }
  return { id: toTypeId('tenant', id), deleted_at: deletedAt, deleted };
}

/** Tells how many rows are deleted, now and then. */
function createProgress(tell: (line: string) => void) {
  let toldAt = performance.now();
  return (deleted: Deleted): void => {
    if (performance.now() - toldAt < TELL_EVERY_MS) return;
    toldAt = performance.now();
    tell(`${Object.values(deleted).reduce((sum, rows) => sum + rows, 0)} rows deleted`);
  };
}
