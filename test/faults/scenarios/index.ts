import type { Scenario } from '../scenario.ts';
import { apiKills, workerKills } from './process-kills.ts';
import { postgresRestarts, valkeyRestarts } from './store-restarts.ts';

/** Every scenario, in the order in which a full run takes them. */
export const SCENARIOS: readonly Scenario[] = [workerKills, apiKills, valkeyRestarts, postgresRestarts];
