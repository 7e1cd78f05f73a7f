import { type ApiProcess, openApi } from '../api/server.ts';
import type { Config } from '../platform/config.ts';
import { openDatabase } from '../platform/database.ts';
import { hasEmbeddedDatabase } from '../platform/embedded-postgres.ts';
import type { Log } from '../platform/log.ts';
import { requireDiskSpace, requireFreePorts, type WantedPort } from '../platform/machine-faults.ts';
import { createMetrics } from '../platform/metrics.ts';
import { type Health, openMetricsServer, statusOfHealth } from '../platform/metrics-server.ts';
import { startPagesBuild } from '../platform/pages-build.ts';
import { type StopStep, stopInOrder } from '../platform/shutdown.ts';
import type { DatabaseUrl } from '../platform/store-urls.ts';
import type { Tracing } from '../platform/tracing.ts';
import { openStorage } from '../storage/database/orm.ts';
import { openWorker, type WorkerProcess } from '../worker/worker.ts';
import { migrateAll } from './migrate.ts';
import { makeSetupLink } from './setup.ts';

export type Role = 'start' | 'serve' | 'work';

/** A running process of one role. */
export interface RunningRole {
  /** Whether it serves requests or jobs, as `/readyz` reports. */
  isReady(): boolean;
  /** Shuts down in order. False when a part did not stop in time. */
  stop(): Promise<boolean>;
}

/** The part of the welcome for an installation without an owner. */
const invite = (setupLink: string | undefined): string =>
  setupLink === undefined
    ? ''
    : `\nNo owner exists yet. Open this link to become the owner (single use, valid for one day):\n\n  ${setupLink}\n`;

/** The welcome message of `start`, with the address and the first steps. */
const welcome = (config: Config, port: number, setupLink: string | undefined): string => `
Parley is ready.

  Dashboard  http://localhost:${port}/dashboard/
  API        http://localhost:${port}
  Reference  http://localhost:${port}/docs
  Metrics    http://localhost:${config.METRICS_PORT}/metrics
${invite(setupLink)}
To work without the dashboard, create a tenant and an API key in another terminal:

  npm run --silent cli -- tenant create --name "My company"
  npm run --silent cli -- api-key create --tenant <its id> --name backend

or run the complete demo:  npm run demo

Press Ctrl+C to stop.
`;

/**
 * Runs a role until it is stopped.
 *
 * `start` runs everything in one process, after the migrations. An embedded database is stopped last, when all
 * acknowledged answers are stored or queued in it.
 */
export async function runRole(
  role: Role,
  config: Config,
  log: Log,
  print: (text: string) => void,
  tracing?: Tracing,
): Promise<RunningRole> {
  await requireMachine(role, config);
  const metrics = createMetrics(role);
  const database = await openDatabase(config, role !== 'start', log);
  const steps: StopStep[] = [];
  let stopping = false;
  let isReady = () => false;
  const stop = () => {
    stopping = true;
    return stopInOrder(steps, log);
  };
  try {
    if (role === 'start') await migrateAll(database.url, config, log);
    let api: ApiProcess | undefined;
    let worker: WorkerProcess | undefined;
    if (role !== 'work') {
      const { url: databaseUrl, secretKeys } = database;
      api = await openApi({ databaseUrl, secretKeys, config, log, metrics, spans: tracing });
      steps.push({ name: 'the API', run: failing(() => api?.close()) });
    }
    if (role !== 'serve') {
      const { url: databaseUrl, secretKeys } = database;
      worker = openWorker({ databaseUrl, secretKeys, config, log, metrics, spans: tracing });
      steps.push({ name: 'the worker', run: failing(() => worker?.close()) });
    }
    (api ?? worker)?.list(role); // `start` is one process
    const health = (): Health => {
      if (stopping) return { status: 'stopping', degraded: [] };
      const ofApi = api?.health() ?? workerHealth(worker?.degraded() ?? []);
      if (worker?.isReady() === false) return { ...ofApi, status: 'starting' };
      return ofApi;
    };
    isReady = () => statusOfHealth(health()) === 200;
    metrics.onScrape(async () => metrics.ready.set(isReady() ? 1 : 0));
    const { METRICS_PORT: port, HOST: host } = config;
    const metricsServer = await openMetricsServer({ port, host, health, log }, metrics);
    steps.push({ name: 'the metrics', limitMs: 1000, run: () => metricsServer.close() });
    if (tracing) steps.push({ name: 'the traces', limitMs: 3000, run: () => tracing.close() });
    steps.push({ name: 'the embedded PostgreSQL', run: () => database.stop() });
    log.info({ port: api?.port, metrics_port: metricsServer.port, embedded: database.embedded }, 'listening');
    if (api) steps.unshift({ name: 'dashboard build', limitMs: 3000, run: startPagesBuild(log).stop });
    if (role === 'start' && api) print(welcome(config, api.port, await findSetupLink(database.url, config, log)));
  } catch (error) {
    await stop();
    await database.stop();
    throw error;
  }
  return { stop, isReady };
}

/** Rejects while a port is taken or the disk is full, before the start writes anything. */
async function requireMachine(role: Role, config: Config): Promise<void> {
  const ports: WantedPort[] = [{ setting: 'METRICS_PORT', port: config.METRICS_PORT }];
  if (role !== 'work') ports.unshift({ setting: 'PORT', port: config.PORT });
  await requireFreePorts(config.HOST, ports);
  if (!config.DATABASE_URL) await requireDiskSpace(config.DATA_DIR, !hasEmbeddedDatabase(config.DATA_DIR));
}

/** The health of a worker-only process; the worker determines `starting`. */
const workerHealth = (degraded: string[]): Health => ({ status: degraded.length > 0 ? 'degraded' : 'ok', degraded });

/** Returns the setup link while no tenant has an owner. */
async function findSetupLink(databaseUrl: DatabaseUrl, config: Config, log: Log): Promise<string | undefined> {
  const storage = openStorage({ url: databaseUrl, role: 'parley_app', connections: 2, log });
  try {
    return await makeSetupLink(storage, config, new Date());
  } finally {
    await storage.close();
  }
}

/** Turns `false` (a part did not stop in time) into a failed step. */
const failing = (close: () => Promise<boolean> | undefined) => async () => {
  if ((await close()) === false) throw new Error('it did not shut down cleanly');
};
