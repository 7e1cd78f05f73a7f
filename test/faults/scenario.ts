import { type Load, tally } from './load.ts';
import type { Backend, StoreOptions } from './stores.ts';
import type { World } from './world.ts';

/** One way to try to lose an answer, or to store it twice. */
export interface Scenario {
  /** As in the list of the tests, `R1` to `R46`. */
  id: string;
  title: string;
  /** What is sent at full size, and what is done to it: for the table. */
  load: string;
  faults: string;
  backends: readonly Backend[];
  /** The backends on which the fast subset has it. */
  quick?: readonly Backend[];
  /** Measures times that another trial on the same machine would spoil. */
  alone?: boolean;
  /** Left out of a full run: it is asked for by its name. */
  onRequest?: boolean;
  /** Proves the method: what it gives up on purpose has to be lost, or the tests beside it would show nothing. */
  isControl?: boolean;
  /** Finds the stores empty and migrates them itself. */
  unmigrated?: boolean;
  /** How the stores differ from the usual ones. */
  stores?(backend: Backend): { postgres?: StoreOptions; valkey?: StoreOptions };
  /** Does it. What must hold is told by `world.must`; that nothing is lost or doubled is judged afterwards. */
  run(world: World): Promise<void>;
}

export const BOTH: readonly Backend[] = ['valkey', 'postgres'];
export const VALKEY_ONLY: readonly Backend[] = ['valkey'];
export const POSTGRES_ONLY: readonly Backend[] = ['postgres'];

/** Requires that each request was acknowledged or refused with a 503, and that none ended in another way. */
export const mustTakeOrRefuse = (world: World, { replies }: Load): void =>
  world.must(
    'nothing but 202 and 503 was replied',
    replies.every(({ status }) => status === 202 || status === 503),
    tally(replies),
  );
