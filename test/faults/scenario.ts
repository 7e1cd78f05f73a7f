import { type Load, tally } from './load.ts';
import type { Backend, StoreOptions } from './stores.ts';
import type { World } from './world.ts';

/** One attempt to lose or duplicate an answer. */
export interface Scenario {
  /** `R1` to `R51`, as in the list of the tests. */
  id: string;
  title: string;
  /** The load at full size and the injected faults, for the table. */
  load: string;
  faults: string;
  backends: readonly Backend[];
  /** The backends on which the fast subset runs it. */
  quick?: readonly Backend[];
  /** Whether it measures times, which a concurrent trial on the same machine would distort. */
  exclusive?: boolean;
  /** Whether a full run omits it, unless requested by name. */
  onRequest?: boolean;
  /** Proves the method: without its safeguard answers must be lost, otherwise the related tests would be worthless. */
  isControl?: boolean;
  /** Returns why it cannot run now; undefined if it can. */
  omitted?(): string | undefined;
  /** Whether it starts with empty stores and migrates them itself. */
  unmigrated?: boolean;
  /** Options of the stores. */
  stores?(backend: Backend): { postgres?: StoreOptions; valkey?: StoreOptions };
  /** Runs it. `world.must` records its expectations; lost and duplicated answers are checked afterwards. */
  run(world: World): Promise<void>;
}

export const BOTH: readonly Backend[] = ['valkey', 'postgres'];
export const VALKEY_ONLY: readonly Backend[] = ['valkey'];
export const POSTGRES_ONLY: readonly Backend[] = ['postgres'];

/** Requires that each request was acknowledged or rejected with a 503. */
export const mustTakeOrRefuse = (world: World, { replies }: Load): void =>
  world.must(
    'nothing but 202 and 503 was replied',
    replies.every(({ status }) => status === 202 || status === 503),
    tally(replies),
  );
