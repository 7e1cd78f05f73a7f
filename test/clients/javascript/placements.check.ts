import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Appearance, Placement } from '../../../clients/javascript/src/index.ts';
import { waitFor } from '../../support/api.ts';
import { expectNoViolations, type Watched } from '../../support/browser.ts';
import { hasBrowser, openBrowser } from '../../support/chromium.ts';
import { actOnOpening, bundleGallery, openGallery, show } from './gallery/browser.ts';
import { cardOf, STEPS } from './gallery/cards.ts';

const NPS = STEPS.nps as (typeof STEPS)[string];
const THUMBS = STEPS.thumbs as (typeof STEPS)[string];
/** An app with a banner above everything that z-index reaches. */
const CSS =
  'main::before { content: ""; position: fixed; inset: 0; z-index: 2147483647; background: #ffd; opacity: 0.5; pointer-events: none }';
const APPEARANCE: Appearance = {
  ...{ theme: 'auto', accent: null, background: null, text: null, radius: 12, font: 'inherit', placement: 'inline' },
};
const POPOVERS = ['top-left', 'top-center', 'top-right', 'bottom-left', 'bottom-center', 'bottom-right'] as const;
const PHONE = { viewport: { width: 375, height: 667 }, hasTouch: true, isMobile: true };

describe.runIf(hasBrowser())('placements', () => {
  let browser: Browser;
  let script: string;
  beforeAll(async () => {
    [browser, script] = await Promise.all([openBrowser(), bundleGallery()]);
  });
  afterAll(() => browser?.close());

  /** Opens an app with a button of its own, which has the focus, and shows a card in it. */
  async function place(
    placement: Placement,
    options: BrowserContextOptions = {},
    prepare?: (page: Page) => Promise<unknown>,
  ): Promise<Watched> {
    const watched = await openGallery(browser, script, options);
    const { page } = watched;
    await page.evaluate(() => {
      const heading = Object.assign(document.createElement('h1'), { textContent: 'App' });
      const own = Object.assign(document.createElement('button'), { id: 'own', textContent: 'Of the app' });
      const header = document.createElement('header');
      header.append(heading, own);
      document.body.prepend(header);
      own.focus();
      Object.assign(window, { shift: 0 });
      new PerformanceObserver(list => {
        for (const entry of list.getEntries())
          Object.assign(window, { shift: (entry as never as { value: number }).value });
      }).observe({ type: 'layout-shift', buffered: true });
    });
    await prepare?.(page);
    await show(page, {
      views: [[cardOf([NPS]), cardOf([THUMBS])]],
      appearance: { ...APPEARANCE, placement },
      css: CSS,
    });
    return watched;
  }

  const boxOf = (page: Page) =>
    page.evaluate(() => {
      const panel = document
        .querySelector('parley-feedback')
        ?.shadowRoot?.querySelector('[part~=panel]') as HTMLElement;
      const { left, right, top, bottom } = panel.getBoundingClientRect();
      const isOnTop =
        document.elementFromPoint((left + right) / 2, (top + bottom) / 2)?.localName === 'parley-feedback';
      return { left, right: innerWidth - right, top, bottom: innerHeight - bottom, isOnTop };
    });
  const isOpen = (page: Page) => page.locator('[part~=panel]').isVisible();
  const ownHasFocus = (page: Page) => page.evaluate(() => document.activeElement?.id === 'own');
  const dismissed = (page: Page) =>
    page.evaluate(() => window.gallery.recorded.filter(({ state }) => state === 'dismissed').length);

  test.each(POPOVERS)('a popover at %s is above the app, shifts nothing and takes no focus', async at => {
    const watched = await place(`popover-${at}`);
    const { page } = watched;
    const box = await boxOf(page);
    expect(box.isOnTop).toBe(true);
    const [side, edge] = at.split('-') as ['top' | 'bottom', 'left' | 'center' | 'right'];
    expect(box[side]).toBeCloseTo(16, 0);
    if (edge === 'center') expect(box.left).toBeCloseTo(box.right, 0);
    else expect(box[edge]).toBeCloseTo(16, 0);
    expect(await ownHasFocus(page)).toBe(true);
    expect(await page.evaluate(() => (window as never as { shift: number }).shift)).toBe(0);
    if (at === 'bottom-right') await expectNoViolations(watched);
  });

  const WAYS: Record<string, (page: Page) => Promise<unknown>> = {
    Esc: page => page.keyboard.press('Escape'),
    'a press outside': page => page.mouse.click(5, 300),
    Back: async page => {
      await page.goBack();
    },
    'Not now': page => page.getByRole('button', { name: 'Not now' }).click(),
    Close: page => page.getByRole('button', { name: 'Close' }).click(),
  };
  const ways = (placement: Placement, ...names: string[]) => names.map((way): [Placement, string] => [placement, way]);
  /** Opens a page of a single-page app with a card, whose third point has the focus. */
  async function openAt(placement: Placement, options: BrowserContextOptions = {}): Promise<Watched> {
    const watched = await place(placement, options);
    await watched.page.evaluate(() => history.pushState(null, '', '/page'));
    await watched.page.getByRole('radio', { name: '3 of 10' }).focus();
    if (placement === 'modal') await sleep(600); // sooner, Back and a press outside were meant for the page
    return watched;
  }

  test.each([
    ...ways('popover-bottom-right', 'Esc', 'Not now', 'Close'),
    ...ways('modal', 'Esc', 'a press outside', 'Back', 'Not now', 'Close'),
  ])('%s: %s is recorded once as dismissed, and closes it', async (placement, way) => {
    const { page } = await openAt(placement);
    await WAYS[way]?.(page);
    await waitFor(async () => !(await isOpen(page)));
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 300);
    expect(await dismissed(page)).toBe(1);
    expect(await page.evaluate(() => new Set(window.gallery.recorded.map(({ id }) => id)).size)).toBe(1); // the second card did not open
  });

  test.each([
    ...ways('popover-bottom-right', 'Esc', 'Not now', 'Close'),
    ...ways('modal', 'Esc', 'Back', 'Not now', 'Close'),
  ])('%s: %s on a card with a score closes it, and the score counts', async (placement, way) => {
    const { page } = await openAt(placement);
    await page.keyboard.press('Space');
    await WAYS[way]?.(page);
    await waitFor(async () => !(await isOpen(page)));
    const recorded = await page.evaluate(() => window.gallery.recorded.map(({ state, values }) => [state, values]));
    expect(recorded.filter(([state]) => state !== 'seen')).toEqual([['partial', { main: 3 }]]);
    expect(await page.getByRole('heading', { name: THUMBS.title }).count()).toBe(0);
  });

  /** The recorded states; every revision of one is of a card that stayed open. */
  const states = (page: Page) => page.evaluate(() => window.gallery.recorded.map(({ state }) => state));

  test.each([
    ['a click', {}],
    ['a tap', PHONE],
  ])('%s on the page, Esc on the page and Back end no popover and no sheet', async (_, options) => {
    const { page } = await openAt('popover-bottom-right', options);
    for (let round = 0; round < 2; round++) {
      await page.locator('#own').click();
      await page.keyboard.press('Escape');
      await page.mouse.click(5, 5);
      await page.goBack();
      await page.evaluate(() => history.pushState(null, '', '/page'));
      expect(await isOpen(page)).toBe(true);
      await page.getByRole('radio', { name: '3 of 10' }).check(); // the second round is with a score
    }
    expect(await states(page)).not.toContain('dismissed');
    await page.getByRole('radio', { name: '3 of 10' }).focus();
    await page.keyboard.press('Escape');
    await waitFor(async () => !(await isOpen(page)));
  });

  /** Draws a finger over the page, from the middle of the window to its lower edge and back. */
  async function drag({ page, context }: Watched, from: number, to: number): Promise<void> {
    const session = await context.newCDPSession(page);
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', y: number) =>
      session.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x: 180, y }] });
    await touch('touchStart', from);
    for (let step = 1; step <= 10; step++) await touch('touchMove', from + ((to - from) * step) / 10);
    await touch('touchEnd', to);
    await session.detach();
  }

  test.each(['popover-top-left', 'modal'] as const)(
    '%s on a phone is a sheet that no scroll closes',
    async placement => {
      const watched = await openAt(placement, PHONE);
      const { page } = watched;
      await page.evaluate(() => {
        document.body.style.paddingBottom = '3000px';
      });
      const box = await boxOf(page);
      expect([box.left, box.right, box.bottom].map(Math.round)).toEqual([0, 0, 0]);
      await expectNoViolations(watched);
      await drag(watched, 200, 20); // the page
      await drag(watched, box.top + 10, 660); // the sheet, from its upper edge
      await drag(watched, 640, box.top + 60);
      expect(await isOpen(page)).toBe(true);
      expect(await states(page)).not.toContain('dismissed');
    },
  );

  test('neither a press outside nor a selection of text that ends outside closes a dialog that is begun', async () => {
    const { page } = await openAt('modal');
    await page.keyboard.press('Space');
    const comment = page.getByLabel('Anything to add?');
    await comment.fill('Half a');
    await page.mouse.click(5, 300);
    const box = (await comment.boundingBox()) as { x: number; y: number };
    await page.mouse.move(box.x + 30, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(5, 300);
    await page.mouse.up();
    expect(await isOpen(page)).toBe(true);
    expect(await comment.inputValue()).toBe('Half a');
  });

  test.each(['a press outside', 'Back'])(
    '%s at the moment in which a dialog opens was meant for the page',
    async way => {
      const { page } = await place('modal', {}, page => page.evaluate(actOnOpening, way === 'Back'));
      await sleep(600);
      expect(await isOpen(page)).toBe(true);
      expect(await states(page)).not.toContain('dismissed');
      await page.evaluate(() => history.pushState(null, '', '/page'));
      await WAYS[way]?.(page);
      await waitFor(async () => !(await isOpen(page)));
      expect(await dismissed(page)).toBe(1);
    },
  );

  test('the close button has a name in the language of the view', async () => {
    for (const [lang, name] of Object.entries({ en: 'Close', de: 'Schließen', ar: 'إغلاق' })) {
      const watched = await openGallery(browser, script);
      await show(watched.page, { views: [[cardOf([NPS])]], attributes: { placement: 'popover-top-left' }, lang });
      await watched.page.getByRole('button', { name, exact: true }).waitFor({ timeout: 5000 });
    }
  });

  test('what is typed behind a feedback button stays when its element is clicked again', async () => {
    const watched = await openGallery(browser, script);
    const { page } = watched;
    await page.evaluate(() => {
      document.body.prepend(Object.assign(document.createElement('button'), { id: 'help', textContent: 'Help' }));
    });
    await show(page, {
      views: [[cardOf([STEPS.text as never])]],
      attributes: { placement: 'button', opens: '#help' },
    });
    const help = page.getByRole('button', { name: 'Help' });
    await help.click();
    await page.getByRole('textbox').fill('The export fails since Monday');
    await help.click();
    await page.mouse.click(5, 300);
    expect(await page.getByRole('textbox').inputValue()).toBe('The export fails since Monday');
    expect(await states(page)).not.toContain('dismissed');
  });

  test.each(['popover-top-center', 'modal'] as const)('%s gives the focus back', async placement => {
    const { page } = await place(placement);
    await page.getByRole('radio', { name: '3 of 10' }).focus();
    await page.keyboard.press('Escape');
    await waitFor(async () => !(await isOpen(page)));
    expect(await ownHasFocus(page)).toBe(true);
  });

  test('only a modal dialog keeps the focus inside', async () => {
    for (const placement of ['modal', 'popover-top-left'] as const) {
      const { page } = await place(placement);
      await page.getByRole('radio', { name: '3 of 10' }).focus();
      const places = new Set<string | undefined>();
      for (let count = 0; count < 8; count++) {
        await page.keyboard.press('Tab');
        places.add(await page.evaluate(() => document.activeElement?.localName));
      }
      expect(places.has('button')).toBe(placement !== 'modal');
    }
  });

  test('a dialog waits while somebody types on the page, so that it takes no digit as a score', async () => {
    const watched = await openGallery(browser, script);
    const { page } = watched;
    await page.evaluate(() => {
      document.body.prepend(Object.assign(document.createElement('input'), { id: 'amount' }));
      document.querySelector<HTMLInputElement>('#amount')?.focus();
    });
    const typing = (async () => {
      for (let typed = 0; typed < 15; typed++) {
        await page.keyboard.type('10');
        await page.waitForTimeout(100);
      }
    })();
    await show(page, { views: [[cardOf([NPS])]], attributes: { placement: 'modal' } });
    await typing;
    expect(await page.locator('#amount').inputValue()).toBe('10'.repeat(15));
    expect(await isOpen(page)).toBe(false);
    await page.getByRole('radio', { name: '3 of 10' }).waitFor();
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0);
  });

  test('after an answer the thanks are in the popover, which then shows the next card', async () => {
    const { page } = await place('popover-bottom-center');
    await page.getByRole('radio', { name: '9 of 10' }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('radio', { name: 'Thumbs up' }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Thank you for your feedback.').waitFor();
    expect(await isOpen(page)).toBe(true);
    await page.getByRole('button', { name: 'Close' }).click();
    await waitFor(async () => !(await isOpen(page)));
    expect(await dismissed(page)).toBe(0);
  });

  test("Esc in a dialog of the app is the app's", async () => {
    const { page } = await place('popover-bottom-right');
    await page.evaluate(() => {
      const dialog = document.body.appendChild(document.createElement('dialog'));
      dialog.append(document.createElement('input'));
      dialog.showModal();
    });
    await page.keyboard.press('Escape');
    await waitFor(async () => (await page.locator('body > dialog[open]').count()) === 0);
    expect(await isOpen(page)).toBe(true);
    expect(await dismissed(page)).toBe(0);
  });

  test('a tab opens the card that is due, by keyboard, and comes back', async () => {
    const watched = await place('button');
    const { page } = watched;
    expect(await isOpen(page)).toBe(false);
    await expectNoViolations(watched);
    const tab = page.getByRole('button', { name: 'Feedback' });
    await tab.focus();
    await page.keyboard.press('Enter');
    await waitFor(() => isOpen(page));
    expect(await tab.count()).toBe(0);
    await page.keyboard.press('Escape');
    await waitFor(async () => !(await isOpen(page)));
    expect(await dismissed(page)).toBe(1);
    await tab.waitFor(); // the list still has the card
  });

  test('a tab does not ask again after its thanks, although the list still has the card', async () => {
    const watched = await openGallery(browser, script);
    const { page } = watched;
    await show(page, { views: [[cardOf([THUMBS])]], attributes: { placement: 'button' } });
    const tab = page.getByRole('button', { name: 'Feedback' });
    await tab.click();
    await page.getByRole('radio').first().check();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Thank you for your feedback.').waitFor();
    await page.keyboard.press('Escape');
    await waitFor(async () => !(await isOpen(page)));
    await tab.waitFor();
    expect(await isOpen(page)).toBe(false);
  });

  test('an element of the app opens one question, although the app keeps its clicks from the page', async () => {
    const watched = await openGallery(browser, script);
    const { page } = watched;
    await page.evaluate(() => {
      const help = Object.assign(document.createElement('button'), { id: 'help', textContent: 'Help' });
      help.addEventListener('click', event => event.stopPropagation());
      document.body.prepend(help);
    });
    const wanted = cardOf([THUMBS], { question_id: 'question_2' });
    await show(page, {
      views: [[cardOf([NPS]), wanted]],
      attributes: { placement: 'button', opens: '#help', question: 'question_2' },
    });
    const help = page.getByRole('button', { name: 'Help' });
    expect(await page.getByRole('button').count()).toBe(1);
    for (let round = 0; round < 2; round++) {
      await help.click();
      await page.getByRole('heading', { name: THUMBS.title }).waitFor();
      await help.click();
      await waitFor(async () => !(await isOpen(page)));
    }
  });

  test('a new fragment in the URL of the app closes nothing', async () => {
    const { page } = await place('popover-bottom-right');
    await page.evaluate(() => {
      location.hash = 'section';
    });
    await page.waitForTimeout(300);
    expect(await isOpen(page)).toBe(true);
    expect(await dismissed(page)).toBe(0);
  });

  test('a zoom by fingers moves no sheet', async () => {
    const phone = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };
    const watched = await openGallery(browser, script, phone);
    const { page, context } = watched;
    await show(page, { views: [[cardOf([NPS])]], attributes: { placement: 'modal' } });
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setPageScaleFactor', { pageScaleFactor: 2 });
    await waitFor(() => page.evaluate(() => visualViewport?.scale === 2));
    await page.waitForTimeout(300);
    const below = await page
      .locator('.panel')
      .evaluate(panel => Math.round(innerHeight - panel.getBoundingClientRect().bottom));
    expect(below).toBe(0);
  });
});
