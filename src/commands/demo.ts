import { toTypeId } from '../domain/ids.ts';
import { presentTenant } from '../domain/tenants.ts';
import { openStorage } from '../storage/database/orm.ts';
import { findLogin } from '../storage/team/accounts.ts';
import { findTenant } from '../storage/tenants/tenants.ts';
import { deleteTenant } from '../storage/upkeep/deleted-tenants.ts';
import { fillDemo, insertDemoTenant, storeDemoAnswers } from '../storage/upkeep/demo.ts';
import { type CommandContext, withAuditEntry } from './command.ts';
import { type TenantOption, tenantOf } from './tenant-option.ts';
import { eraseTenant } from './tenants.ts';
import { UsageError } from './usage-error.ts';

/**
 * `demo create --owner E`: creates a tenant with demo data, and makes an existing account its owner.
 *
 * The data goes into the new tenant only, so that it never mixes with that of another. If it is interrupted, the tenant
 * has less data; it can be deleted and created again.
 */
export async function createDemo(context: CommandContext, { owner }: { owner: string }) {
  const { storage, now, log, databaseUrl: url, report } = context;
  const account = await findLogin(storage, owner);
  if (!account) throw new UsageError('--owner: no account has this address');
  const shown = await withAuditEntry(context, 'tenant.created', async transaction => {
    const { tenant, memberId } = await insertDemoTenant(transaction, account, now);
    return { tenantId: tenant.id, shown: { ...presentTenant(tenant), uuid: tenant.id, memberId } };
  });
  const { uuid, memberId, ...tenant } = shown;
  const worker = openStorage({ url, role: 'parley_worker', connections: 1, log });
  try {
    report('The tenant is created. Filling it with demo data.');
    const author = { type: 'member', id: toTypeId('member', memberId), name: account.name } as const;
    const { answers, created } = await fillDemo(storage.forTenant(uuid), { id: memberId, author }, now);
    return { ...tenant, created: { ...created, answers: await storeDemoAnswers(worker, answers) } };
  } finally {
    await worker.close();
  }
}

/** `demo delete --tenant T`: permanently deletes a demo tenant like `tenant delete`. Refuses every other tenant. */
export async function deleteDemo(context: CommandContext, options: TenantOption) {
  const tenant = await tenantOf(context, options);
  const row = await findTenant(tenant);
  if (!row?.is_demo) throw new UsageError('--tenant: is not a demo tenant; see tenant delete');
  return eraseTenant(context, tenant.tenantId, (await deleteTenant(tenant)) ?? {});
}
