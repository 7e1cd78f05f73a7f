import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { assignBatch, listTenantsToAssign } from '../storage/assignment.ts';
import type { Storage } from '../storage/orm.ts';
import { runRounds } from './rounds.ts';

/** How often the worker looks for conversations without an assignee. */
const EVERY_MS = 1000;

interface AssignmentDeps {
  /** As `parley_worker`: finds the tenants. */
  storage: Storage;
  /** As `parley_app`: each tenant's conversations are changed under its own row-level security. */
  tenants: Storage;
  metrics: Pick<Metrics, 'conversationsAssigned'>;
  log: Log;
  signal: AbortSignal;
}

/**
 * Applies the tenants' assignment rules to open conversations without an assignee, until the signal is aborted. Several
 * workers may run at once: one of them has the tenant's rules.
 */
export async function runAssignment(deps: AssignmentDeps): Promise<void> {
  await runRounds(
    { ...deps, failure: 'assignment of conversations failed; will retry', retryMs: EVERY_MS },
    async () => {
      await assignAll(deps);
      return EVERY_MS;
    },
  );
}

/**
 * Looks at all conversations that have to be looked at, a batch of each tenant in turn, so that a tenant with many does
 * not delay the others.
 */
export async function assignAll({ storage, tenants, metrics, signal }: Omit<AssignmentDeps, 'log'>): Promise<void> {
  let due = await listTenantsToAssign(storage);
  while (due.length > 0) {
    const more: string[] = [];
    for (const tenantId of due) {
      if (signal.aborted) return;
      const { outcomes, isFull } = await assignBatch(tenants.forTenant(tenantId));
      for (const outcome of outcomes) metrics.conversationsAssigned.inc({ outcome });
      if (isFull) more.push(tenantId);
    }
    due = more;
  }
}
