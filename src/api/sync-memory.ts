import { compareSyncs, type SyncMark } from '../domain/answers.ts';

/** How many syncs each of the two generations holds. */
const GENERATION = 25_000;

/** The syncs that this process made durable of late: a repeat is told at once. The worker settles what it doesn't know. */
export interface SyncMemory {
  /** The newest sync of a tenant's answer, as far as it is remembered. */
  find(tenantId: string, answerId: string): SyncMark | undefined;
  /** Keeps a sync, unless one that is not older became known since it was looked for. */
  keep(tenantId: string, answerId: string, mark: SyncMark): void;
}

interface Kept {
  tenantId: string;
  mark: SyncMark;
}

/**
 * Remembers the last 25,000 to 50,000 syncs, in two generations of which the older is forgotten whole.
 *
 * Every answer passes here and hardly one is asked for again, so what counts is the price of a miss and of a new entry:
 * one look by the answer's own id, and no order to keep (docs/performance.md). Two tenants that use one id, which takes
 * made-up UUIDs, share its place: the later one is remembered.
 */
export function createSyncMemory(): SyncMemory {
  let young = new Map<string, Kept>();
  let old = new Map<string, Kept>();
  return {
    find(tenantId, answerId) {
      const kept = young.get(answerId) ?? old.get(answerId);
      return kept?.tenantId === tenantId ? kept.mark : undefined;
    },
    keep(tenantId, answerId, mark) {
      const known = young.get(answerId); // what became known since is here
      if (known?.tenantId === tenantId && compareSyncs(known.mark, mark) !== 'newer') return;
      if (young.size >= GENERATION) {
        old = young;
        young = new Map();
      }
      young.set(answerId, { tenantId, mark });
    },
  };
}
