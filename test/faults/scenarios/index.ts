import type { Scenario } from '../scenario.ts';
import { silentNetwork } from './network.ts';
import { postgresAway, postgresDisk, slowPostgres } from './postgres-faults.ts';
import { powerCuts, powerCutsUnsynced } from './power-cuts.ts';
import { noisyTenant, overload, rollingRestart } from './pressure.ts';
import { apiKills, workerKills } from './process-kills.ts';
import { postgresRestarts, valkeyRestarts } from './store-restarts.ts';
import { frozenValkey, valkeyDisk, valkeyFailover, valkeyMemory } from './valkey-faults.ts';

/** Every scenario, in the order in which a full run takes them. */
export const SCENARIOS: readonly Scenario[] = [
  workerKills,
  apiKills,
  valkeyRestarts,
  frozenValkey,
  valkeyMemory,
  valkeyDisk,
  valkeyFailover,
  postgresRestarts,
  postgresAway,
  slowPostgres,
  silentNetwork,
  postgresDisk,
  overload,
  noisyTenant,
  rollingRestart,
  powerCuts,
  powerCutsUnsynced,
];
