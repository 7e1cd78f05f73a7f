/**
 * Pictures of every page, dialog and state, light and dark, on a desk and on a phone: `npm run screenshots [-- folder]`.
 * `npm run screenshots -- --readme` renews those of README instead, in `docs/images`.
 *
 * Starts a Parley of its own with a fresh database, lives through a first run in a browser, fills it as a small shop
 * would, and looks at each page. Needs Chromium (`CHROMIUM` names it, else it is where distributions put it).
 */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openBrowser } from '../../test/support/chromium.ts';
import { freePort, startProcess } from '../../test/support/process.ts';
import { setUp, setupLinkIn } from '../../test/support/team.ts';
import { waitFor } from '../../test/support/wait.ts';
import { BASE } from '../paths.ts';
import { print, shoot } from './camera.ts';
import { EMPTY, FRONT, germanOf, pagesOf, printedOf, type Scene, statesOf } from './scenes.ts';
import { fill } from './seed.ts';

const [wanted = 'screenshots', ...names] = process.argv.slice(2);
const isForReadme = wanted === '--readme';
const folder = isForReadme ? resolve(import.meta.dirname, '../../docs/images') : resolve(wanted);

/** Further arguments are what the names of the wanted pictures begin with. */
const chosen = (scenes: Scene[]): Scene[] =>
  names.length === 0 ? scenes : scenes.filter(({ name }) => names.some(start => name.startsWith(start)));

const data = await mkdtemp(join(tmpdir(), 'parley-screenshots-'));
await chmod(data, 0o755); // started by root, the embedded PostgreSQL runs as another user
const port = String(await freePort());
const baseUrl = `http://localhost:${port}`;
const server = await startProcess('start', { DATA_DIR: data, PORT: port, BASE_URL: baseUrl, LOG_LEVEL: 'warn' });
const browser = await openBrowser();
try {
  await mkdir(folder, { recursive: true });
  await server.awaitProbe('/readyz');
  await waitFor(async () => (await fetch(`${baseUrl}${BASE}/`)).ok, 120_000);
  const context = await browser.newContext({ locale: 'en-GB' });
  const page = await context.newPage();
  await setUp(page, await waitFor(() => setupLinkIn(server.output())), 'Nordlicht Coffee', 'Ada Lindqvist');
  const camera = { browser, baseUrl, folder, storageState: await context.storageState() };
  if (!isForReadme) await shoot(camera, chosen(EMPTY));
  const seeded = await fill(page, { baseUrl, folder: data });
  if (isForReadme) await print(camera, chosen(printedOf(seeded)));
  else {
    await shoot(camera, chosen(pagesOf(seeded)));
    await shoot({ ...camera, locale: 'de-DE' }, chosen(germanOf(seeded)));
    await shoot(camera, chosen(statesOf(seeded)));
    await shoot({ ...camera, storageState: undefined }, chosen(FRONT));
  }
} finally {
  await browser.close();
  await server[Symbol.asyncDispose]();
  await rm(data, { recursive: true, force: true });
}
