import type { Log } from '../platform/log.ts';
import type { Storage } from '../storage/orm.ts';
import { indexBatch, listTenantsToIndex } from '../storage/search-index.ts';
import { pause, runRounds } from './rounds.ts';

/** How often the worker checks for texts without words. */
const EVERY_MS = 5000;
/** How often the log reports progress. */
const REPORT_EVERY_MS = 10_000;

interface SearchIndexDeps {
  /** As `parley_app`: each tenant's texts are read under its own row-level security. */
  storage: Storage;
  log: Log;
  signal: AbortSignal;
}

/**
 * Indexes texts that were stored before the search index existed or by the previous version, until the signal is
 * aborted. Several workers may run at once: they lock different texts.
 */
export async function runSearchIndexing(deps: SearchIndexDeps): Promise<void> {
  await runRounds({ ...deps, failure: 'search indexing failed; will retry', retryMs: EVERY_MS }, async () => {
    await indexAll(deps);
    return EVERY_MS;
  });
}

/**
 * Indexes all texts without words. Pauses after each batch for as long as it took, so that other work is not delayed.
 */
export async function indexAll({ storage, log, signal }: SearchIndexDeps): Promise<void> {
  const tenants = await listTenantsToIndex(storage);
  let rows = 0;
  let reportedAt = Date.now();
  for (const [index, tenantId] of tenants.entries())
    for (;;) {
      const startedAt = performance.now();
      const done = await indexBatch(storage.forTenant(tenantId));
      rows += done;
      if (done === 0 || signal.aborted) break;
      if (Date.now() - reportedAt > REPORT_EVERY_MS) {
        reportedAt = Date.now();
        log.info({ rows, tenants_left: tenants.length - index }, 'indexing texts for search');
      }
      await pause(performance.now() - startedAt, signal);
    }
  if (rows > 0) log.info({ rows, tenants: tenants.length }, 'indexed texts for search');
}
