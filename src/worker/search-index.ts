import type { Storage } from '../storage/orm.ts';
import { indexBatch, listTenantsToIndex } from '../storage/search-index.ts';
import { pause } from './rounds.ts';
import { type RoundDeps, runTenantRounds, type TenantWork } from './tenant-rounds.ts';

/** How often the worker checks for texts without words. */
const EVERY_MS = 5000;
/** How often the log reports progress. */
const REPORT_EVERY_MS = 10_000;

interface SearchIndexDeps extends RoundDeps {
  /** As `parley_app`: each tenant's texts are read under its own row-level security. */
  storage: Storage;
}

/**
 * Indexes texts that were stored before the search index existed or by the previous version, until the signal is
 * aborted. Several workers may run at once: they lock different texts.
 */
export const runSearchIndexing = (deps: SearchIndexDeps): Promise<void> =>
  runTenantRounds(deps, searchIndexing(deps), { everyMs: EVERY_MS, failure: 'search indexing failed; will retry' });

/**
 * Indexing texts without words. Pauses after each batch for as long as it took, so that other work is not delayed.
 */
export function searchIndexing({
  storage,
  log,
  signal,
}: Pick<SearchIndexDeps, 'storage' | 'log' | 'signal'>): TenantWork {
  let rows = 0;
  let reportedAt = Date.now();
  return {
    loop: 'search-index',
    list: () => listTenantsToIndex(storage),
    batch: async tenantId => {
      const startedAt = performance.now();
      const done = await indexBatch(storage.forTenant(tenantId));
      if (done === 0) return 'blocked';
      rows += done;
      if (Date.now() - reportedAt > REPORT_EVERY_MS) {
        log.info({ rows }, 'indexing texts for search');
        reportedAt = Date.now();
        rows = 0;
      }
      await pause(performance.now() - startedAt, signal);
      return 'more';
    },
  };
}
