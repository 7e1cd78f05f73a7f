import type { Scenario } from '../scenario.ts';
import { assignmentUnderKills } from './assignment.ts';
import { otherDevice } from './devices.ts';
import { doors } from './doors.ts';
import {
  partitionedPrimary,
  partitionUnconfirmed,
  plannedFailovers,
  plannedFailoversUnconfirmed,
} from './failovers.ts';
import { flushedQueue } from './flushed-queue.ts';
import { laxPostgres } from './lax-postgres.ts';
import { limitUnderKills } from './limits.ts';
import { modelled } from './model.ts';
import { silentNetwork } from './network.ts';
import { noisyReader } from './noisy-reader.ts';
import { observedBacklog } from './observers.ts';
import { poisonedPayloads } from './poison.ts';
import { postgresAway, postgresDisk, slowPostgres } from './postgres-faults.ts';
import { powerCuts, powerCutsUnsynced } from './power-cuts.ts';
import { noisyTenant, overload, rollingRestart } from './pressure.ts';
import { apiKills, workerKills } from './process-kills.ts';
import { pagesUnderWrites, soak, wrongClocks } from './reading.ts';
import { backupAndRestore } from './restore.ts';
import { contestedIds, duplicates, partlyBad } from './same-ids.ts';
import { seededFaults } from './seeded-storage.ts';
import { lostPrimary, lostPrimaryUnconfirmed } from './sentinel.ts';
import { lateValkey, stopWithoutStores } from './starts-and-stops.ts';
import { postgresRestarts, valkeyRestarts } from './store-restarts.ts';
import { timersUnderKills } from './timers.ts';
import {
  appendOnlySwitchedOn,
  appendOnlySwitchedOnRelaxed,
  swappedStore,
  swappedStoreRelaxed,
} from './untrue-stores.ts';
import { upgrade } from './upgrade.ts';
import { frozenValkey, valkeyDisk, valkeyFailover, valkeyMemory } from './valkey-faults.ts';
import { migrationUnderLoad, versionSkew } from './versions.ts';
import { webhooksUnderFaults } from './webhooks.ts';

/** All scenarios, in the order of a full run. */
export const SCENARIOS: readonly Scenario[] = [
  workerKills,
  apiKills,
  otherDevice,
  limitUnderKills,
  timersUnderKills,
  assignmentUnderKills,
  webhooksUnderFaults,
  poisonedPayloads,
  valkeyRestarts,
  lateValkey,
  frozenValkey,
  valkeyMemory,
  valkeyDisk,
  valkeyFailover,
  postgresRestarts,
  postgresAway,
  slowPostgres,
  silentNetwork,
  postgresDisk,
  duplicates,
  contestedIds,
  partlyBad,
  overload,
  noisyTenant,
  observedBacklog,
  rollingRestart,
  stopWithoutStores,
  migrationUnderLoad,
  versionSkew,
  upgrade,
  backupAndRestore,
  wrongClocks,
  pagesUnderWrites,
  soak,
  seededFaults,
  modelled,
  flushedQueue,
  powerCuts,
  powerCutsUnsynced,
  laxPostgres,
  noisyReader,
  lostPrimary,
  lostPrimaryUnconfirmed,
  plannedFailovers,
  plannedFailoversUnconfirmed,
  partitionedPrimary,
  partitionUnconfirmed,
  swappedStore,
  swappedStoreRelaxed,
  appendOnlySwitchedOn,
  appendOnlySwitchedOnRelaxed,
  doors,
];
