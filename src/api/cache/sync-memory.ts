import { type AcceptedAnswer, type Comparison, compareSyncs, type SyncMark } from '../../domain/answers.ts';
import type { Caches } from '../../platform/caches.ts';

/** Heap bytes of a remembered sync beyond its identity: its id, its mark with four more ids, and its place in the map. */
const SYNC_BYTES = 420;

/** The syncs that this process made durable of late: a repeat is told at once. The worker settles what it doesn't know. */
export interface SyncMemory {
  /** How a sync relates to the newest one of its answer that is remembered; `newer` where none is. */
  compare(sync: AcceptedAnswer): Comparison;
  /** Keeps a sync, unless one that is not older became known since it was compared. */
  keep(sync: AcceptedAnswer): void;
}

type Kept = SyncMark & Pick<AcceptedAnswer, 'tenant_id'>;

/** What later syncs are compared with, without the rest of an answer. */
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
 * Remembers the latest syncs in two generations, of which the older is forgotten whole: at most as many as fit into the
 * share of the cache, at least half of that (9,000 to 18,000 by default).
 *
 * Every answer passes here and hardly one is asked for again, so what counts is the price of a miss and of a new entry:
 * one look by the answer's own id, and no order to keep (docs/performance.md). Two tenants that use one id, which takes
 * made-up UUIDs, share its place: the later one is remembered.
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
      if (compareWith(syncs.findYoung(sync.id), sync) !== 'newer') return; // what became known since is here
      // Two bytes a character, without a look at them. A new revision counts once more: never too little.
      syncs.set(sync.id, markOf(sync), SYNC_BYTES + 2 * sync.identity.length);
    },
  };
}
