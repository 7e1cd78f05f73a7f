import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Trigger } from '../../../clients/javascript/src/index.ts';
import { openPage, type Watched } from '../../support/browser.ts';
import { hasBrowser, openBrowser } from '../../support/chromium.ts';
import { waitFor } from '../../support/wait.ts';
import { cardOf, STEPS } from './gallery/cards.ts';
import { bundleApp } from './page-server.ts';
import { type SmallSite, serveSmallSite } from './small-site.ts';

const NPS = STEPS.nps as (typeof STEPS)[string];
const THUMBS = STEPS.thumbs as (typeof STEPS)[string];
/** Two views of the page. */
const TWICE = {
  ...{ event: null, click: null, where: [], url: { op: 'contains', value: 'triggers' }, count: 2 },
  ...{ delay_s: 0, cancel_on: [] },
} as Trigger;

const errorsOf = (page: Pick<Page, 'evaluate'>) => page.evaluate(() => window.parley.errors);

describe.runIf(hasBrowser())('the view in pages that the browser keeps, and in frames', () => {
  let site: SmallSite;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([
      bundleApp().then(serveSmallSite),
      openBrowser({ ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.[Symbol.asyncDispose]();
  });

  async function open(url: string, cards = [cardOf([NPS])]): Promise<Watched> {
    Object.assign(site, { cards, answers: [] });
    const watched = await openPage(browser);
    await watched.page.goto(url);
    return watched;
  }

  /** Goes to another page, and Back to the one that the browser has kept. */
  async function leaveAndReturn(page: Page): Promise<void> {
    await page.evaluate(() => void Object.assign(window, { isKept: true }));
    await page.goto(site.url('/left'));
    await page.waitForTimeout(300); // late work of the page that was left
    await page.evaluate(() => history.back());
    await page.waitForFunction(() => document.querySelector('parley-feedback'));
    expect(await page.evaluate(() => 'isKept' in window)).toBe(true);
  }

  test('a page that is left while a text is being entered is kept for Back, and goes on with the answer', async () => {
    await using watched = await open(site.url('/'));
    const { page, complaints } = watched;
    await page.getByRole('radio', { name: '7 of 10' }).check();
    await page.getByLabel('Anything to add?').pressSequentially('Half a');
    await leaveAndReturn(page);
    expect(site.answers.at(-1)).toMatchObject({ state: 'partial', values: { main: 7 }, comment: 'Half a' });
    expect(await page.getByLabel('Anything to add?').inputValue()).toBe('Half a');
    await page.getByRole('button', { name: 'Send' }).click();
    await waitFor(async () => site.answers.at(-1)?.state === 'completed');
    expect(new Set(site.answers.map(({ id }) => id)).size).toBe(1);
    await page.waitForFunction(async () => (await window.parley.outbox.waiting()).length === 0);
    expect([await errorsOf(page), complaints]).toEqual([[], []]);
  });

  test('Back to a kept page goes on with what the next page has made of its card', async () => {
    await using watched = await open(site.url('/'));
    const { page, complaints } = watched;
    await page.getByRole('radio', { name: '7 of 10' }).check();
    site.cards = [];
    await page.evaluate(() => void Object.assign(window, { isKept: true }));
    const goOn = async () => {
      await page.goto(site.url('/?next'));
      await page.getByRole('radio', { name: '7 of 10', checked: true }).waitFor();
    };
    await goOn();
    await page.getByLabel('Anything to add?').pressSequentially('Half a');
    await page.evaluate(() => history.back());
    await page.waitForFunction(() => 'isKept' in window);
    await page.getByRole('radio', { name: '7 of 10', checked: true }).waitFor();
    await waitFor(async () => (await page.getByLabel('Anything to add?').inputValue()) === 'Half a');
    await goOn();
    await page.getByRole('button', { name: 'Send' }).click();
    await waitFor(async () => site.answers.at(-1)?.state === 'completed');
    await page.evaluate(() => history.back());
    await page.waitForFunction(() => 'isKept' in window);
    await page.waitForFunction(() => document.querySelector('parley-feedback')?.dataset.state === 'empty');
    expect(new Set(site.answers.map(({ id }) => id)).size).toBe(1);
    const contents = new Set(
      site.answers.map(answer => JSON.stringify([answer.revision, answer.state, answer.comment])),
    );
    expect(new Set(site.answers.map(({ revision }) => revision)).size).toBe(contents.size); // no revision has two contents
    expect([await errorsOf(page), complaints]).toEqual([[], []]);
  });

  test('Back shows the next card if another page has asked the question meanwhile', async () => {
    await using watched = await open(site.url('/'));
    const { page } = watched;
    await page.getByRole('heading', { name: NPS.title }).waitFor();
    site.cards = [cardOf([THUMBS])];
    await leaveAndReturn(page);
    await page.getByRole('heading', { name: THUMBS.title }).waitFor({ timeout: 5000 });
  });

  test('Back to a page is a view of it', async () => {
    await using watched = await open(site.url('/?triggers'), [cardOf([NPS], { trigger: TWICE })]);
    const { page } = watched;
    await page.waitForFunction(() => localStorage['parley-triggers']?.includes('counts'));
    expect(await page.locator('parley-feedback').getAttribute('data-state')).toBe('empty');
    await leaveAndReturn(page);
    await page.getByRole('heading', { name: NPS.title }).waitFor({ timeout: 5000 });
  });

  test('a page that is rendered in advance is viewed when it is displayed', async () => {
    await using watched = await openPage(browser);
    const { page } = watched;
    // Chromium does not render pages in advance while it is remote-controlled.
    await page.addInitScript(() =>
      Object.defineProperty(Document.prototype, 'prerendering', { get: () => !('isDisplayed' in window) }),
    );
    Object.assign(site, { cards: [cardOf([NPS], { trigger: { ...TWICE, count: 1 } })] });
    await page.goto(site.url('/?triggers'));
    await page.waitForFunction(() => localStorage['parley-triggers']);
    await page.waitForTimeout(100);
    expect(await page.locator('parley-feedback').getAttribute('data-state')).toBe('empty');
    await page.evaluate(() => {
      Object.assign(window, { isDisplayed: true });
      document.dispatchEvent(new Event('prerenderingchange'));
    });
    await page.getByRole('heading', { name: NPS.title }).waitFor({ timeout: 5000 });
  });

  test.each([
    ['/sandbox', '127.0.0.1'],
    ['/third-party', 'localhost'],
    ['/srcdoc', '127.0.0.1'],
  ])('%s: a card in a frame is answered by Enter and by a click', async (path, host) => {
    await using watched = await open(site.url(path, host), [cardOf([NPS]), cardOf([THUMBS])]);
    const { page, complaints } = watched;
    const view = page.frameLocator('iframe');
    await view.getByRole('radio', { name: '7 of 10' }).check();
    await page.keyboard.press('Enter');
    await view.getByRole('heading', { name: THUMBS.title }).waitFor({ timeout: 5000 });
    await view.getByRole('radio').first().check();
    await view.getByRole('button', { name: 'Send' }).click();
    await view.getByText('Thank you for your feedback.').waitFor({ timeout: 5000 });
    await waitFor(async () => site.answers.filter(({ state }) => state === 'completed').length === 2);
    expect([await errorsOf(page.frames()[1] as never), complaints]).toEqual([[], []]);
  });

  test('a card that is higher than its frame of another site counts as seen', async () => {
    await using watched = await open(site.url('/small-third-party', 'localhost'));
    const frame = watched.page.frameLocator('iframe');
    await frame.getByRole('heading', { name: NPS.title }).waitFor();
    await waitFor(async () => {
      const waiting = await watched.page.frames()[1]?.evaluate(() => window.parley.outbox.waiting());
      return waiting?.some(({ answer }) => answer.state === 'seen');
    }, 5000);
  });
});
