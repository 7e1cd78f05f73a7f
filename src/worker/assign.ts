import type { Metrics } from '../platform/metrics.ts';
import { assignBatch, hasToAssign, listTenantsToAssign } from '../storage/conversations/assignment.ts';
import type { Storage } from '../storage/database/orm.ts';
import { type MarkedTenant, removeMarks, takeMarks } from '../storage/tenants/marked-tenants.ts';
import { type RoundDeps, runTenantRounds, type TenantWork } from './tenant-rounds.ts';

/** How often the worker looks for marked tenants. */
const EVERY_MS = 1000;
/** How often it looks at all tenants with rules, for changes by hand, which mark no tenant. */
const EVERYONE_EVERY_MS = 10 * 60_000;

interface AssignmentDeps extends RoundDeps {
  /** As `parley_worker`: finds the tenants. */
  storage: Storage;
  /** As `parley_app`: each tenant's conversations are changed under its own row-level security. */
  tenants: Storage;
  metrics: RoundDeps['metrics'] & Pick<Metrics, 'conversationsAssigned'>;
}

/**
 * Applies the tenants' assignment rules to open conversations without an assignee, until the signal is aborted. Several
 * workers may run at once: one of them has the tenant's rules.
 */
export const runAssignment = (deps: AssignmentDeps): Promise<void> =>
  runTenantRounds(deps, assignment(deps), {
    everyMs: EVERY_MS,
    failure: 'assignment of conversations failed; will retry',
  });

/** Applying the rules of tenants with a write that may give them something to assign. */
export function assignment({ storage, tenants, metrics }: Omit<AssignmentDeps, 'log' | 'signal'>): TenantWork {
  let everyoneAt = Number.NEGATIVE_INFINITY;
  let marked = new Map<string, MarkedTenant>();

  async function list(): Promise<string[]> {
    marked = new Map((await takeMarks(storage, 'assignment')).map(tenant => [tenant.tenantId, tenant]));
    if (performance.now() < everyoneAt) return [...marked.keys()];
    const everyone = await listTenantsToAssign(storage);
    everyoneAt = performance.now() + EVERYONE_EVERY_MS;
    return [...new Set([...marked.keys(), ...everyone])];
  }

  return {
    loop: 'assignment',
    list,
    batch: async tenantId => {
      const mark = marked.get(tenantId);
      if (!(await hasToAssign(storage, tenantId))) {
        if (mark?.isSettled) await removeMarks(storage, 'assignment', mark);
        return 'done';
      }
      const { outcomes, isFull } = await assignBatch(tenants.forTenant(tenantId));
      for (const outcome of outcomes) metrics.conversationsAssigned.inc({ outcome });
      return isFull || outcomes.length > 0 ? 'more' : 'blocked';
    },
  };
}
