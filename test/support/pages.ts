import { createLog } from '../../src/platform/log.ts';
import { builtHash, hashSources, startPagesBuild } from '../../src/platform/pages-build.ts';

/** Builds the dashboard if its sources have changed, as a start from source does. */
export async function buildDashboard(): Promise<void> {
  await startPagesBuild(createLog('error', 'test')).done;
  if (builtHash() !== hashSources()) throw new Error('The dashboard could not be built; the log above says why.');
}
