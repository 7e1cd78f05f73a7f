import { parseTypeId } from '../domain/ids.ts';
import type { TenantStorage } from '../storage/orm.ts';
import { findTenant } from '../storage/tenants.ts';
import { type CommandContext, type Options, required, UsageError } from './command.ts';

export const noSuchTenant = (): UsageError => new UsageError('--tenant: tenant not found');

/** Returns the tenant of `--tenant`. */
export async function tenantOf({ storage }: CommandContext, options: Options): Promise<TenantStorage> {
  const id = parseTypeId('tenant', required(options, 'tenant'));
  const tenant = id === undefined ? undefined : storage.forTenant(id);
  if (!tenant || !(await findTenant(tenant))) throw noSuchTenant();
  return tenant;
}
