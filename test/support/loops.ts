import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createTenantRounds, type RoundDeps, type TenantWork } from '../../src/worker/tenant-rounds.ts';

/** The metrics, log and signal of a worker's loop in a test. */
export const loopDeps = () => ({
  metrics: createMetrics('work'),
  log: createLog('silent', 'test'),
  signal: new AbortController().signal,
});

/** Runs the rounds of a loop until all work is done. */
export async function finish(work: TenantWork, deps: RoundDeps = loopDeps()): Promise<void> {
  const rounds = createTenantRounds(deps, work);
  while ((await rounds.run()) || (await rounds.ended()).length > 0);
}
