import { toTypeId } from '../../domain/ids.ts';
import { notFound } from '../../domain/problem.ts';
import { Tenant, TenantPatch } from '../../domain/tenants.ts';
import { findTenant, type TenantRow, updateTenant } from '../../storage/tenants.ts';
import { operation } from '../operation.ts';

const shared = { path: '/v1/tenant', tag: 'Tenant', status: 200 } as const;

const presentTenant = (row: TenantRow) => ({ ...row, id: toTypeId('tenant', row.id) });

const readTenant = operation({
  ...shared,
  id: 'readTenant',
  method: 'get',
  credentials: ['session'],
  summary: 'Read the tenant and its settings',
  right: 'tenant:read',
  response: Tenant,
  etag: true,
  async handle({ caller }, { storage }) {
    const row = await findTenant(storage.forTenant(caller.tenantId));
    if (!row) throw notFound('tenant');
    return presentTenant(row);
  },
});

const patchTenant = operation({
  ...shared,
  id: 'patchTenant',
  method: 'patch',
  credentials: ['session'],
  summary: 'Change settings of the tenant',
  right: 'tenant:write',
  audit: 'tenant.updated',
  body: TenantPatch,
  response: Tenant,
  problems: ['precondition-failed'],
  async handle({ caller, body, requireMatch }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    return presentTenant(await updateTenant(tenant, body, before => requireMatch(presentTenant(before))));
  },
});

/** Every operation on the tenant itself. */
export const tenantRoutes = [readTenant, patchTenant];
