import { randomBytes } from 'node:crypto';
import { createDatabase } from './database.ts';
import { freePort, startProcess } from './process.ts';
import { createProxy } from './proxy.ts';
import { setupLinkIn } from './team.ts';
import { waitFor } from './wait.ts';

/**
 * A whole Parley in a process of its own on a database of its own, reached as a browser does.
 *
 * @param settings beside the defaults of tests; a `PORT` where something has to know the address before
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
    /** Between this Parley and its database. */
    network,
    /** With what a further process of it is started, past that network. */
    environment,
    /** The link that makes the first owner, as it was printed. */
    setupLink: await waitFor(() => setupLinkIn(server.output())),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await network[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

export type Installation = Awaited<ReturnType<typeof startInstallation>>;
