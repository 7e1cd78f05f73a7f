import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { waitFor } from '../../test/support/wait.ts';
import { BASE } from '../paths.ts';
import type { Scene } from './scene.ts';

export type State = Awaited<ReturnType<BrowserContext['storageState']>>;
export type Scheme = 'light' | 'dark';
const SCHEMES: Scheme[] = ['light', 'dark'];

/** Desktop and touch phone. */
const SCREENS: Record<string, BrowserContextOptions> = {
  wide: { viewport: { width: 1440, height: 900 } },
  narrow: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
};

/** For README: high density at the displayed size. */
const PRINT: BrowserContextOptions = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1.5 };
const PRINT_QUALITY = 82;

/** Opens the scene and waits until it has loaded. */
async function stage(page: Page, baseUrl: string, { path, before, act, isPending }: Scene): Promise<void> {
  await before?.(page);
  await page.goto('about:blank'); // a URL that differs only in its fragment would not reload
  await page.goto(`${baseUrl}${BASE}${path.replace(`~${BASE}`, '')}`);
  if (isPending) {
    await page.getByRole('status').first().waitFor();
    return;
  }
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await waitFor(async () => (await page.getByText('Loading…').count()) === 0);
  await waitFor(async () => (await page.locator('parley-feedback[data-state=empty]').count()) === 0);
  await act?.(page);
  await page.waitForTimeout(400); // charts are drawn one frame after Chart.js has loaded
}

async function inContext(browser: Browser, options: BrowserContextOptions, work: (page: Page) => Promise<void>) {
  const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(10_000);
  await work(await context.newPage());
  await context.close();
}

interface Shoot {
  browser: Browser;
  baseUrl: string;
  folder: string;
  storageState?: State;
  /** Browser language. */
  locale?: string;
  schemes?: Scheme[];
}

/** Saves PNG screenshots of the scenes in both themes and sizes: the full page, or the viewport for dialogs. */
export async function shoot(
  { browser, baseUrl, folder, storageState, locale = 'en-GB', schemes = SCHEMES }: Shoot,
  scenes: Scene[],
): Promise<void> {
  for (const colorScheme of schemes)
    for (const [size, screen] of Object.entries(SCREENS))
      for (const scene of scenes.filter(({ only = size }) => only === size))
        await inContext(browser, { ...screen, colorScheme, storageState, locale }, async page => {
          await stage(page, baseUrl, scene);
          const path = join(folder, `${scene.name}-${size}-${colorScheme}.png`);
          await page.screenshot({ path, fullPage: !scene.isScreen });
        });
}

/** Saves the screenshots of README as WebP, which Chromium supports and Playwright does not. */
export async function print({ browser, baseUrl, folder, storageState }: Shoot, scenes: Scene[]): Promise<void> {
  for (const colorScheme of SCHEMES)
    for (const scene of scenes)
      await inContext(browser, { ...PRINT, colorScheme, storageState }, async page => {
        await stage(page, baseUrl, scene);
        const session = await page.context().newCDPSession(page);
        const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: PRINT_QUALITY });
        await writeFile(join(folder, `${scene.name}-${colorScheme}.webp`), Buffer.from(data, 'base64'));
      });
}
