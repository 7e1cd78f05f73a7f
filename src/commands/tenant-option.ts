import { parseTypeId } from '../domain/ids.ts';
import type { TenantStorage } from '../storage/database/orm.ts';
import { findTenant } from '../storage/tenants/tenants.ts';
import type { CommandContext } from './command.ts';
import { UsageError } from './usage-error.ts';

/** The option of commands on one tenant. */
export interface TenantOption {
  tenant: string;
}

export const noSuchTenant = (): UsageError => new UsageError('--tenant: tenant not found');

/** Returns the tenant of `--tenant`. */
export async function tenantOf({ storage }: CommandContext, options: TenantOption): Promise<TenantStorage> {
  const id = parseTypeId('tenant', options.tenant);
  const tenant = id === undefined ? undefined : storage.forTenant(id);
  if (!tenant || !(await findTenant(tenant))) throw noSuchTenant();
  return tenant;
}
