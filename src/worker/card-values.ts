import { keepValues, listTenantsWithoutValues } from '../storage/card-values.ts';
import type { Storage } from '../storage/orm.ts';
import { pause, runRounds } from './rounds.ts';
import { createTenantRounds, type RoundDeps, type TenantWork } from './tenant-rounds.ts';

/** How long the worker waits after a failure, and for a tenant that another worker has in progress. */
const RETRY_MS = 5000;

interface CardValueDeps extends RoundDeps {
  /** As `parley_worker`. */
  storage: Storage;
}

/**
 * Adds the values of answers that were stored by an earlier version to card records, for audiences with `answered`. Ends when all
 * are added, or the signal is aborted. Several workers may run at once: they lock different tenants.
 */
export async function runCardValues(deps: CardValueDeps): Promise<void> {
  const rounds = createTenantRounds(deps, cardValues(deps));
  await runRounds(
    { ...deps, failure: 'adding values of older answers failed; will retry', retryMs: RETRY_MS },
    async () => {
      if (await rounds.run()) return 0;
      return (await listTenantsWithoutValues(deps.storage)).length === 0 ? undefined : RETRY_MS;
    },
  );
  await rounds.ended();
}

/** Adding the values, with a pause after each batch for as long as it took. */
export const cardValues = ({ storage, signal }: Pick<CardValueDeps, 'storage' | 'signal'>): TenantWork => ({
  loop: 'card-values',
  list: () => listTenantsWithoutValues(storage),
  batch: async tenantId => {
    const startedAt = performance.now();
    const rows = await keepValues(storage, tenantId);
    if (rows === 0) return 'blocked';
    await pause(performance.now() - startedAt, signal);
    return 'more';
  },
});
