import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitFor } from '../../support/api.ts';
import { hasBrowser, openBrowser } from '../../support/chromium.ts';
import { bundleGallery, openGallery, show } from './gallery/browser.ts';
import { cardOf, STEPS } from './gallery/cards.ts';

const NPS = STEPS.nps as (typeof STEPS)[string];

describe.runIf(hasBrowser())('next to dialogs and scripts of the page', () => {
  let browser: Browser;
  let script: string;
  beforeAll(async () => {
    [browser, script] = await Promise.all([openBrowser(), bundleGallery()]);
  });
  afterAll(() => browser?.close());

  const open = async (options: BrowserContextOptions = {}): Promise<Page> =>
    (await openGallery(browser, script, options)).page;
  const isOpen = (page: Page) => page.locator('[part~=panel]').isVisible();

  /** Opens a dialog of the app with a button, before there are cards; returns a function that ends it. */
  const DIALOGS: Record<string, (page: Page) => Promise<() => Promise<void>>> = {
    'a modal dialog': async page => {
      await page.evaluate(() => {
        const dialog = document.body.appendChild(document.createElement('dialog'));
        dialog.append(Object.assign(document.createElement('button'), { id: 'help', textContent: 'Help' }));
        dialog.showModal();
      });
      return () => page.evaluate(() => document.querySelector('dialog')?.close());
    },
    'a dialog of a library': async page => {
      await page.evaluate(() => {
        const dialog = document.body.appendChild(document.createElement('div'));
        dialog.append(Object.assign(document.createElement('button'), { id: 'help', textContent: 'Help' }));
        dialog.style.pointerEvents = 'auto';
        document.body.style.pointerEvents = 'none';
      });
      return () =>
        page.evaluate(() => {
          document.body.style.pointerEvents = '';
        });
    },
  };

  async function openWithDialog(dialog: string, attributes: Record<string, string>) {
    const page = await open();
    const endDialog = await DIALOGS[dialog]?.(page);
    await show(page, { views: [[cardOf([NPS])]], attributes });
    return { page, endDialog };
  }

  test.each(Object.keys(DIALOGS))('a card waits while %s keeps the user from it', async dialog => {
    const { page, endDialog } = await openWithDialog(dialog, { placement: 'popover-bottom-right' });
    await page.waitForTimeout(700);
    expect(await isOpen(page)).toBe(false);
    await endDialog?.();
    await page.getByRole('radio', { name: '3 of 10' }).check();
  });

  test.each(Object.keys(DIALOGS))('a click in %s opens a card that can be used', async dialog => {
    const { page } = await openWithDialog(dialog, { placement: 'button', opens: '#help' });
    await page.locator('#help').click();
    await page.getByRole('radio', { name: '3 of 10' }).check();
    await page.getByRole('button', { name: 'Not now' }).click();
    await waitFor(async () => !(await isOpen(page)));
  });

  test('an open popover can be closed while a dialog of a library takes the pointer from the page', async () => {
    const page = await open();
    await show(page, { views: [[cardOf([NPS])]], attributes: { placement: 'popover-bottom-right' } });
    await DIALOGS['a dialog of a library']?.(page);
    await page.getByRole('button', { name: 'Close' }).click();
    await waitFor(async () => !(await isOpen(page)));
  });

  test('a panel is scrolled by the wheel, although a script takes the wheel from the page', async () => {
    const page = await open({ viewport: { width: 600, height: 220 } });
    await show(page, { views: [[cardOf([NPS])]], attributes: { placement: 'popover-bottom-right' } });
    await page.evaluate(() => {
      addEventListener('wheel', event => event.preventDefault(), { passive: false });
    });
    const box = (await page.locator('[part~=panel]').boundingBox()) as { x: number; y: number };
    await page.mouse.move(box.x + 100, box.y + 60);
    await page.mouse.wheel(0, 100);
    await waitFor(() => page.locator('[part~=panel], .panel').evaluate(panel => panel.scrollTop > 0));
  });
});
