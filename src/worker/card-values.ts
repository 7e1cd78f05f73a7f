import type { Log } from '../platform/log.ts';
import { keepValues, listTenantsWithoutValues } from '../storage/card-values.ts';
import type { Storage } from '../storage/orm.ts';
import { pause, runRounds } from './rounds.ts';

/** How long the worker waits after a failure, and for a tenant that another worker has in progress. */
const RETRY_MS = 5000;

interface CardValueDeps {
  /** As `parley_worker`. */
  storage: Storage;
  log: Log;
  signal: AbortSignal;
}

/**
 * Adds the values of answers that were stored by an earlier version to card records, for audiences with `answered`. Ends when all
 * are added, or the signal is aborted. Several workers may run at once: they lock different tenants.
 */
export async function runCardValues(deps: CardValueDeps): Promise<void> {
  await runRounds(
    { ...deps, failure: 'adding values of older answers failed; will retry', retryMs: RETRY_MS },
    async () => ((await keepAllValues(deps)) ? undefined : RETRY_MS),
  );
}

/** Adds the values of all tenants, with a pause after each batch for as long as it took. Returns whether none are left. */
export async function keepAllValues({ storage, log, signal }: CardValueDeps): Promise<boolean> {
  let rows = 0;
  for (const tenantId of await listTenantsWithoutValues(storage))
    for (;;) {
      const startedAt = performance.now();
      const read = await keepValues(storage, tenantId);
      rows += read;
      if (read === 0 || signal.aborted) break;
      await pause(performance.now() - startedAt, signal);
    }
  if (rows > 0) log.info({ rows }, 'added values of older answers to card records');
  return (await listTenantsWithoutValues(storage)).length === 0;
}
