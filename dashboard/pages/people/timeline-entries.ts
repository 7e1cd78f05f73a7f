import type { Schemas } from '../../api/schema.ts';

export type Entry =
  | { kind: 'answer'; at: string; answer: Schemas['Answer'] }
  | { kind: 'conversation'; at: string; conversation: Schemas['Conversation'] }
  | { kind: 'profile'; at: string; change: Schemas['ProfileChange'] }
  | { kind: 'first-seen'; at: string };

/** Entries of one kind, newest first, as far as they have been fetched. */
export interface Source {
  entries: Entry[];
  /** Whether older entries may exist. */
  hasMore: boolean;
  /** Time back to which a sparse list was searched. */
  searchedTo?: string | undefined;
}

const timeOf = (at: string): number => new Date(at).getTime();

/** The oldest time from which all entries of a source are known. */
function knownFrom({ entries, hasMore, searchedTo }: Source): number {
  if (!hasMore) return Number.NEGATIVE_INFINITY;
  const at = searchedTo ?? entries.at(-1)?.at;
  return at === undefined ? Number.POSITIVE_INFINITY : timeOf(at);
}

/**
 * Merges sources, newest first. Entries older than the oldest known time of any source are left out: an entry that is
 * not fetched yet could precede them.
 *
 * `bounding` are the positions of the sources that must be fetched further to show more.
 */
export function mergeSources(sources: Source[]): { entries: Entry[]; bounding: number[] } {
  const limits = sources.map(knownFrom);
  const limit = Math.max(...limits);
  const entries = sources
    .flatMap(source => source.entries)
    .filter(({ at }) => timeOf(at) >= limit)
    .sort((a, b) => timeOf(b.at) - timeOf(a.at));
  const bounding = limits.flatMap((from, position) => (from === limit && sources[position]?.hasMore ? [position] : []));
  return { entries, bounding };
}
