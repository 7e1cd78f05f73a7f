import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../platform/log.ts';
import { keepValues, listTenantsWithoutValues } from '../storage/card-values.ts';
import type { Storage } from '../storage/orm.ts';

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
  const { log, signal } = deps;
  while (!signal.aborted) {
    try {
      if (await keepAllValues(deps)) return;
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'adding values of older answers failed; will retry');
    }
    await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined); // rejects only at the signal
  }
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
      await sleep(performance.now() - startedAt, undefined, { signal }).catch(() => undefined);
    }
  if (rows > 0) log.info({ rows }, 'added values of older answers to card records');
  return (await listTenantsWithoutValues(storage)).length === 0;
}
