/**
 * Measures cards of every type in a browser at five widths, in three themes, in both directions and in four states:
 * `npm run gallery`. Writes the contact sheets and the result to `results`. `npm run gallery -- --docs` renders the pictures
 * of the documentation instead. Needs Chromium (path in `CHROMIUM`, or the default path of the distribution).
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../../../support/chromium.ts';
import { bundleGallery, openGallery, show } from './browser.ts';
import { cardOf, STEPS } from './cards.ts';
import { type Cell, DIRECTIONS, inspect, nameOf, STATES, THEMES, WIDTHS } from './matrix.ts';
import { compress, contactSheet, type Picture } from './sheet.ts';

const IMAGES = resolve(import.meta.dirname, '../../../../docs/images/cards');
const RESULTS = join(import.meta.dirname, 'results');

/** One picture of each type in each theme, with a chosen value. */
async function printDocs(browser: Browser, script: string): Promise<void> {
  await mkdir(IMAGES, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    await using watched = await openGallery(browser, script, {
      ...{ colorScheme, deviceScaleFactor: 1.5, viewport: { width: 420, height: 900 } },
    });
    const { page } = watched;
    const css = 'body { margin: 10px; font: 16px/1.4 sans-serif } main { display: flow-root }';
    for (const [name, step] of Object.entries(STEPS)) {
      await show(page, { views: [[cardOf([step])]], css });
      const boxes = page.getByRole('radio').or(page.getByRole('checkbox'));
      const count = await boxes.count();
      if (count > 1) await boxes.nth(Math.min(count - 1, step.type === 'nps' ? 8 : count > 7 ? 6 : 1)).check();
      const png = await page.locator('main').screenshot();
      await writeFile(join(IMAGES, `${name}-${colorScheme}.webp`), await compress(browser, { name, png }, 600));
    }
  }
}

/** Measures all cells of a theme; returns the number of defects. */
async function measureAll(browser: Browser, script: string, theme: Cell['theme']): Promise<string[]> {
  const rows: Picture[][] = [];
  const defects: string[] = [];
  for (const dir of DIRECTIONS)
    for (const state of STATES) {
      const row: Picture[] = [];
      for (const width of WIDTHS) {
        const cell = { width, theme, dir, state };
        const { problems, picture } = await inspect(browser, script, cell);
        defects.push(...problems.map(problem => `${nameOf(cell)}: ${problem}`));
        row.push({ name: nameOf(cell), png: picture });
        process.stdout.write(`${nameOf(cell)}: ${problems.length === 0 ? 'passed' : problems.join('; ')}\n`);
      }
      rows.push(row);
    }
  await writeFile(join(RESULTS, `${theme}.webp`), await contactSheet(browser, rows));
  return defects;
}

const browser = await openBrowser();
try {
  const script = await bundleGallery();
  if (process.argv.includes('--docs')) await printDocs(browser, script);
  else {
    await mkdir(RESULTS, { recursive: true });
    const defects: string[] = [];
    for (const theme of THEMES) defects.push(...(await measureAll(browser, script, theme)));
    const cells = THEMES.length * DIRECTIONS.length * STATES.length * WIDTHS.length;
    const day = new Date().toISOString().slice(0, 10);
    const types = Object.keys(STEPS).length;
    const head = `${day}, Chromium ${browser.version()}: ${cells} pages with ${types} cards each, ${defects.length} defects.`;
    const list = defects.map(defect => `- ${defect}`).join('\n');
    await writeFile(join(RESULTS, 'result.md'), `# The look of cards\n\n${head}\n${list ? `\n${list}\n` : ''}`);
    process.stdout.write(`${head}\n`);
    process.exitCode = defects.length === 0 ? 0 : 1;
  }
} finally {
  await browser.close();
}
