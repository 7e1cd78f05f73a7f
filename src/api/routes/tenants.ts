import { notFound } from '../../domain/problem.ts';
import { changedSettings, presentTenant, Tenant, TenantPatch } from '../../domain/tenants.ts';
import { findTenant, updateTenant } from '../../storage/tenants.ts';
import { operation } from '../operation.ts';

const shared = { path: '/v1/tenant', tag: 'Tenant', status: 200 } as const;

export const readTenant = operation({
  ...shared,
  id: 'readTenant',
  method: 'get',
  credentials: ['session'],
  summary: 'Get the tenant and its settings',
  description: 'The settings of the tenant in `Tenant-Id`.',
  right: 'tenant:read',
  response: Tenant,
  etag: true,
  async handle({ caller }, { storage }) {
    const row = await findTenant(storage.forTenant(caller.tenantId));
    if (!row) throw notFound('tenant');
    return presentTenant(row);
  },
});

export const patchTenant = operation({
  ...shared,
  id: 'patchTenant',
  method: 'patch',
  credentials: ['session'],
  summary: 'Update the settings of the tenant',
  description:
    'With a shorter retention, older records are deleted permanently within minutes. A longer retention does not restore deleted records. A new appearance reaches cards with their next fetch; colors that are hard to read are 422 `low-contrast`.',
  right: 'tenant:write',
  audit: 'tenant.updated',
  body: TenantPatch,
  response: Tenant,
  ifMatch: true,
  etag: true,
  async handle({ caller, body, requireMatch }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    const row = await updateTenant(tenant, before => {
      requireMatch(presentTenant(before));
      return changedSettings(before, body);
    });
    return presentTenant(row);
  },
});

/** Every operation on the tenant itself. */
export const tenantRoutes = [readTenant, patchTenant];
