import { randomBytes } from 'node:crypto';
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
  const server = await startProcess('start', { ...environment, ...reached });
  await server.awaitProbe('/readyz');
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
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await network[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

export type Installation = Awaited<ReturnType<typeof startInstallation>>;
