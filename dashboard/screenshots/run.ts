/**
 * Takes screenshots of every page, dialog and state, light and dark, desktop and phone:
 * `npm run screenshots [-- folder]`. `npm run screenshots -- --readme` updates those of README in `docs/images` instead.
 *
 * Starts Parley with a fresh database, completes the setup in a browser, seeds the data of a small shop and opens each
 * page. Needs Chromium (path in `CHROMIUM`, or the default path of the distribution).
 */
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { openBrowser } from '../../test/support/chromium.ts';
import { startEmbedded } from '../../test/support/installation.ts';
import { setUp } from '../../test/support/team.ts';
import { LOCAL_WEBHOOKS } from '../../test/support/webhooks.ts';
import { print, shoot } from './camera.ts';
import type { Scene } from './scene.ts';
import { EMPTY, FRONT, inGerman, pagesOf, printedOf, statesOf } from './scenes.ts';
import { fill } from './seed.ts';

const [wanted = 'screenshots', ...names] = process.argv.slice(2);
const isForReadme = wanted === '--readme';
const folder = isForReadme ? resolve(import.meta.dirname, '../../docs/images') : resolve(wanted);

/** Further arguments select scenes by name prefix. */
const chosen = (scenes: Scene[]): Scene[] =>
  names.length === 0 ? scenes : scenes.filter(({ name }) => names.some(start => name.startsWith(start)));

// Its webhooks lead to this machine.
await using installation = await startEmbedded(LOCAL_WEBHOOKS);
const { baseUrl, setupLink } = installation;
const browser = await openBrowser();
try {
  await mkdir(folder, { recursive: true });
  const context = await browser.newContext({ locale: 'en-GB' });
  const page = await context.newPage();
  await setUp(page, setupLink, 'Nordlicht Coffee', 'Ada Lindqvist');
  const camera = { browser, baseUrl, folder, storageState: await context.storageState() };
  if (!isForReadme) await shoot(camera, chosen(EMPTY));
  const seeded = await fill(page, { baseUrl, folder: installation.folder });
  if (isForReadme) await print(camera, chosen(printedOf(seeded)));
  else {
    await shoot(camera, chosen(pagesOf(seeded)));
    await shoot({ ...camera, locale: 'de-DE', schemes: ['light'] }, chosen(inGerman(pagesOf(seeded))));
    await shoot(camera, chosen(statesOf(seeded)));
    await shoot({ ...camera, storageState: undefined }, chosen(FRONT));
    await shoot({ ...camera, storageState: undefined, locale: 'de-DE', schemes: ['light'] }, chosen(inGerman(FRONT)));
  }
} finally {
  await browser.close();
}
