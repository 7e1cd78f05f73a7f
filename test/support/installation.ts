import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from './database.ts';
import { freePort, startProcess } from './process.ts';
import { createProxy } from './proxy.ts';
import { setupLinkIn } from './team.ts';
import { waitFor } from './wait.ts';

/**
 * Starts a complete Parley process with its own database, reached like from a browser.
 *
 * @param settings added to the defaults of tests; set `PORT` if the address must be known in advance
 */
export async function startInstallation(settings: Record<string, string> = {}) {
  const database = await createDatabase();
  const network = await createProxy(database.url);
  const port = settings.PORT ?? String(await freePort());
  const baseUrl = `http://localhost:${port}`;
  const environment = {
    DATABASE_URL: database.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    BASE_URL: baseUrl,
    LOG_LEVEL: 'warn',
    ...settings,
  };
  const reached = { DATABASE_URL: network.through(database.url), PORT: port };
  const startServer = async () => {
    const started = await startProcess('start', { ...environment, ...reached });
    await started.awaitProbe('/readyz');
    return started;
  };
  let server = await startServer();
  await waitFor(async () => (await fetch(`${baseUrl}/dashboard/`)).ok, 60_000);
  return {
    baseUrl,
    database,
    /** The proxy between Parley and its database. */
    network,
    /** The settings of an additional process, which bypasses the proxy. */
    environment,
    /** The printed link with which the first owner is created. */
    setupLink: await waitFor(() => setupLinkIn(server.output())),
    /** Stops Parley, so that connections are refused until `startAgain`. */
    stop: () => server[Symbol.asyncDispose](),
    async startAgain() {
      server = await startServer();
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await network[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

export type Installation = Awaited<ReturnType<typeof startInstallation>>;

/** Starts a complete Parley process as `npm start` does, with an embedded database in a folder of its own. */
export async function startEmbedded(settings: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'parley-embedded-'));
  await chmod(folder, 0o755); // started by root, the embedded PostgreSQL runs as another user
  const port = String(await freePort());
  const baseUrl = `http://localhost:${port}`;
  const own = { DATA_DIR: folder, PORT: port, BASE_URL: baseUrl, LOG_LEVEL: 'warn' };
  const server = await startProcess('start', { ...own, ...settings });
  const stop = async () => {
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true, maxRetries: 20 }); // PostgreSQL may still be stopping
  };
  try {
    await waitFor(async () => (await fetch(`${baseUrl}/readyz`).catch(() => undefined))?.ok, 180_000); // on a busy machine
    await waitFor(async () => (await fetch(`${baseUrl}/dashboard/`)).ok, 120_000);
    const setupLink = await waitFor(() => setupLinkIn(server.output()));
    return { baseUrl, folder, setupLink, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
