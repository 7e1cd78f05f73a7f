import { randomBytes } from 'node:crypto';
import { createDatabase } from './database.ts';
import { freePort, startProcess } from './process.ts';
import { setupLinkIn } from './team.ts';
import { waitFor } from './wait.ts';

/** A whole Parley in a process of its own on a database of its own, reached as a browser does. */
export async function startInstallation() {
  const database = await createDatabase();
  const port = String(await freePort());
  const baseUrl = `http://localhost:${port}`;
  const settings = { DATABASE_URL: database.url, SECRET_KEY: randomBytes(32).toString('base64'), LOG_LEVEL: 'warn' };
  const server = await startProcess('start', { ...settings, PORT: port, BASE_URL: baseUrl });
  await server.awaitProbe('/readyz');
  await waitFor(async () => (await fetch(`${baseUrl}/dashboard/`)).ok, 60_000);
  return {
    baseUrl,
    /** What its command line needs to know. */
    settings,
    /** The link that makes the first owner, as it was printed. */
    setupLink: await waitFor(() => setupLinkIn(server.output())),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

export type Installation = Awaited<ReturnType<typeof startInstallation>>;
