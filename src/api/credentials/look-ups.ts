import { createGroupCommit } from '../../platform/group-commit.ts';
import type { Spans } from '../../platform/spans.ts';

/** One statement is on its way while the next one fills: so many credentials cost two connections, however many they are. */
const MAX_STATEMENTS = 2;
const MAX_WANTED = 500;

/**
 * Finds rows for credentials that are not proven yet, in batches: everything that arrives while a statement is on its way
 * goes with the next one.
 *
 * A flood of made-up credentials so takes at most two connections, and locks out nobody who shares an address with whoever
 * sends it, as a limit by address would.
 */
export function createLookUps<Wanted, Row>(
  name: string,
  find: (wanted: Wanted[]) => Promise<(Row | undefined)[]>,
  spans: Spans | undefined,
): (wanted: Wanted) => Promise<Row | undefined> {
  const group = createGroupCommit<Wanted, Row | undefined>({
    flush: find,
    maxInFlight: MAX_STATEMENTS,
    weigh: () => [1],
    maxWeights: [MAX_WANTED],
    spans: spans?.groups({ name }),
  });
  return wanted => group.add(wanted);
}
