import { createGroupCommit } from '../../platform/group-commit.ts';
import type { Spans } from '../../platform/spans.ts';

/** One statement runs while the next one fills, so lookups use at most two connections. */
const MAX_STATEMENTS = 2;
const MAX_BATCH = 500;

/**
 * Looks up rows for unverified credentials in batches: requests that arrive while a statement runs share the next one.
 *
 * A flood of made-up credentials thus uses at most two connections. Unlike a limit per address, this does not lock out
 * others behind the same address.
 */
export function createBatchedLookup<Wanted, Row>(
  name: string,
  find: (wanted: Wanted[]) => Promise<(Row | undefined)[]>,
  spans: Spans | undefined,
): (wanted: Wanted) => Promise<Row | undefined> {
  const group = createGroupCommit<Wanted, Row | undefined>({
    flush: find,
    maxInFlight: MAX_STATEMENTS,
    weigh: () => [1],
    maxWeights: [MAX_BATCH],
    spans: spans?.groups({ name }),
  });
  return wanted => group.add(wanted);
}
