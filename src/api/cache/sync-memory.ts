import { type AcceptedAnswer, type Comparison, compareSyncs, type SyncMark } from '../../domain/answers/answers.ts';
import type { Caches } from '../../platform/caches.ts';

/** Heap bytes of a cached sync besides its identity: its id, its mark with four more ids, and a map entry. */
const SYNC_BYTES = 420;

/**
 * The syncs that this process recently made durable, to recognise repetitions at once. The worker decides for all
 * others.
 */
export interface SyncMemory {
  /** Compares a sync with the newest cached one of its answer; `newer` when none is cached. */
  compare(sync: AcceptedAnswer): Comparison;
  /** Caches a sync, unless one that is not older was cached since the comparison. */
  keep(sync: AcceptedAnswer): void;
}

type Kept = SyncMark & Pick<AcceptedAnswer, 'tenant_id'>;

/** The fields that later syncs are compared with. */
const markOf = (answer: AcceptedAnswer): Kept => ({
  tenant_id: answer.tenant_id,
  revision: answer.revision,
  state: answer.state,
  content_hash: answer.content_hash,
  card_id: answer.card_id,
  question_id: answer.question_id,
  identity: answer.identity,
  identity_verified: answer.identity_verified,
});

const compareWith = (known: Kept | undefined, sync: AcceptedAnswer): Comparison =>
  known?.tenant_id === sync.tenant_id ? compareSyncs(known, sync) : 'newer';

/**
 * Caches the latest syncs in two generations, of which the older is dropped as a whole. It holds at most as many as fit
 * into the cache's share, and at least half of that (9,000 to 18,000 by default).
 *
 * Every answer passes here, and few are looked up again. So the cost of a miss and of a new entry matters: one lookup
 * by the answer's id, and no ordering (docs/performance.md). If two tenants use the same id, which requires made-up
 * UUIDs, the later sync replaces the earlier.
 */
export function createSyncMemory(caches: Caches): SyncMemory {
  const syncs = caches.createGenerations<string, Kept>('syncs');
  return {
    compare(sync) {
      const known = syncs.find(sync.id);
      syncs.count(known !== undefined);
      return compareWith(known, sync);
    },
    keep(sync) {
      if (compareWith(syncs.findYoung(sync.id), sync) !== 'newer') return; // a newer sync is cached already
      // At most two bytes per character. A new revision is counted again, so the estimate is never too low.
      syncs.set(sync.id, markOf(sync), SYNC_BYTES + 2 * sync.identity.length);
    },
  };
}
