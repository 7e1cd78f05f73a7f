import { listTenantIds, rebuildResults } from '../storage/results.ts';
import type { CommandContext, Options } from './command.ts';
import { tenantOf } from './tenant-option.ts';

/** `results rebuild [--tenant T]`: counts the results of a tenant, or of all, anew, while answers may arrive. */
export async function rebuild(context: CommandContext, options: Options) {
  const { storage } = context;
  const tenants =
    options.tenant === undefined
      ? (await listTenantIds(storage)).map(id => storage.forTenant(id))
      : [await tenantOf(context, options)];
  let questions = 0;
  for (const tenant of tenants) questions += await rebuildResults(tenant);
  return { tenants: tenants.length, questions };
}
