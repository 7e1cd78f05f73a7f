import { z } from 'zod';
import type { AcceptedAnswer } from '../../domain/answers/answers.ts';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { notFound, Problem } from '../../domain/problem.ts';
import { TenantName } from '../../domain/team/accounts.ts';
import { changedSettings, presentTenant, Tenant, TenantPatch } from '../../domain/tenants.ts';
import { findTenant, updateTenant } from '../../storage/tenants/tenants.ts';
import { deleteTenant } from '../../storage/upkeep/deleted-tenants.ts';
import { fillDemo, insertDemoTenant, listDemoTenants, lockDemoTenants } from '../../storage/upkeep/demo.ts';
import type { ApiDeps } from '../deps.ts';
import { operation, reply } from '../operation.ts';
import { recordAuditEntry } from '../pipeline/audit-trail.ts';

const shared = { path: '/v1/tenant', tag: 'Tenant', status: 200 } as const;

const DemoTenantPath = z.object({ id: typeId('tenant') });

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

/** Answers per job, as in the largest batch of an app. */
const AT_ONCE = 100;

/** Hands the answers to the workers. Resolves when all are on disk in the queue. */
async function enqueueAnswers(answers: AcceptedAnswer[], { queue }: Pick<ApiDeps, 'queue'>): Promise<void> {
  for (let at = 0; at < answers.length; at += AT_ONCE) {
    const batch = answers.slice(at, at + AT_ONCE);
    await queue.enqueue(batch, JSON.stringify(batch).length);
  }
}

export const createDemoTenant = operation({
  tag: 'Tenant',
  id: 'createDemoTenant',
  method: 'post',
  path: '/v1/demo-tenants',
  credentials: ['session'],
  right: 'tenant:write',
  summary: 'Create a separate tenant with demo data',
  description:
    'Six weeks of data of a small shop: questions, some 650 answers, 40 people and 8 conversations. The caller becomes the owner of the new tenant. Other tenants are neither read nor changed. A person can own one demo tenant at a time. The answers are stored by a worker within seconds.',
  audit: 'demo_tenant.created',
  status: 201,
  sends: ['Location'],
  response: TenantName,
  problems: ['limit-reached', 'queue-unavailable'],
  async handle(request, deps) {
    const { caller, requestId } = request;
    const { storage } = deps;
    const [owned] = await lockDemoTenants(storage, caller.accountId);
    if (owned)
      throw new Problem(
        'limit-reached',
        `You already own a demo tenant, ${toTypeId('tenant', owned.id)}. Delete it first.`,
      );
    const now = deps.now();
    const account = { id: caller.accountId, email: caller.email, name: caller.name, password_hash: null };
    const { tenant, memberId } = await insertDemoTenant(storage, account, now);
    const author = { type: 'member', id: toTypeId('member', memberId), name: caller.name } as const;
    const { answers } = await fillDemo(storage.forTenant(tenant.id), { id: memberId, author }, now);
    const body = { id: toTypeId('tenant', tenant.id), name: tenant.name, demo: true };
    const owner = { ...caller, tenantId: tenant.id, memberId, role: 'owner' } as const;
    const origin = { clientIp: () => request.clientIp(), requestId, sent: undefined, pathId: undefined };
    await recordAuditEntry('tenant.created', owner, origin, body, deps);
    const headers = { Location: `/v1/demo-tenants/${body.id}` };
    return reply({ headers, body, afterwards: outside => fillOrDelete(tenant.id, answers, { ...deps, ...outside }) });
  },
});

/** Hands over the answers. A tenant whose answers cannot be stored is deleted, so that the request can be repeated. */
async function fillOrDelete(tenantId: string, answers: AcceptedAnswer[], deps: ApiDeps): Promise<void> {
  try {
    await enqueueAnswers(answers, deps);
  } catch (error) {
    await deleteTenant(deps.storage.forTenant(tenantId));
    throw error;
  }
}

export const readDemoTenant = operation({
  tag: 'Tenant',
  id: 'readDemoTenant',
  method: 'get',
  path: '/v1/demo-tenants/{id}',
  credentials: ['session'],
  right: 'tenant:write',
  summary: 'Get a demo tenant that you own',
  params: DemoTenantPath,
  status: 200,
  response: TenantName,
  async handle({ caller, params }, { storage }) {
    const found = (await listDemoTenants(storage, caller.accountId)).find(({ id }) => id === params.id);
    if (!found) throw notFound('demo tenant');
    return { id: toTypeId('tenant', found.id), name: found.name, demo: true };
  },
});

export const deleteDemoTenant = operation({
  tag: 'Tenant',
  id: 'deleteDemoTenant',
  method: 'delete',
  path: '/v1/demo-tenants/{id}',
  credentials: ['session'],
  right: 'tenant:write',
  summary: 'Delete a demo tenant with all its data',
  description:
    'Permanently deletes a demo tenant that the caller owns, with everything in it, also what was added later. `Tenant-Id` names another tenant, whose audit log keeps the entry. 404 for every tenant that is not such a demo tenant.',
  audit: 'demo_tenant.deleted',
  params: DemoTenantPath,
  status: 204,
  async handle({ caller, params }, { storage }) {
    const owned = await lockDemoTenants(storage, caller.accountId);
    const found = owned.find(({ id }) => id === params.id && id !== caller.tenantId);
    if (!found) throw notFound('demo tenant');
    await deleteTenant(storage.forTenant(found.id));
    return reply({ body: { id: toTypeId('tenant', found.id), name: found.name } });
  },
});

/** Every operation on the tenant itself, and on demo tenants. */
export const tenantRoutes = [readTenant, patchTenant, createDemoTenant, readDemoTenant, deleteDemoTenant];
