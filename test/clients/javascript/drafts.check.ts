import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Card } from '../../../clients/javascript/src/index.ts';
import { openPage, type Watched } from '../../support/browser.ts';
import { hasBrowser, openBrowser } from '../../support/chromium.ts';
import { waitFor } from '../../support/wait.ts';
import { cardOf, FOLLOWED, STEPS } from './gallery/cards.ts';
import { bundleApp } from './page-server.ts';
import { type SmallSite, serveSmallSite } from './small-site.ts';

const NPS = STEPS.nps as (typeof STEPS)[string];
const THUMBS = STEPS.thumbs as (typeof STEPS)[string];
const MINUTE = 60_000;

const heading = (page: Page, title: string) => page.getByRole('heading', { name: title });
const comment = (page: Page) => page.getByLabel('Anything to add?');
/** Names of the drafts on the device. */
const keptIn = (page: Page) =>
  page.evaluate(() => Object.keys(localStorage).filter(name => name.startsWith('parley-draft')));

describe.runIf(hasBrowser())('a card that is left unfinished', () => {
  let site: SmallSite;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([bundleApp().then(serveSmallSite), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    site.answers.length = 0;
  });

  /** Opens a page with cards. From the next load on, the list is empty: a part of the answer is stored. */
  async function open(
    cards: Card[],
    path = '/',
    prepare?: (context: BrowserContext) => Promise<unknown>,
  ): Promise<Watched> {
    site.cards = cards;
    const watched = await openPage(browser);
    await prepare?.(watched.context);
    await watched.page.goto(site.url(path));
    await heading(watched.page, cards[0]?.steps[0]?.title ?? '').waitFor();
    site.cards = [];
    return watched;
  }

  /** Loads a page, and waits until it has its list of cards. */
  async function load(page: Page, path = '/?next'): Promise<void> {
    await page.addInitScript(() =>
      addEventListener('parley-cards', ({ detail }) => Object.assign(window, { count: detail.count })),
    );
    await page.goto(site.url(path));
    await page.waitForFunction(() => 'count' in window);
  }
  const state = (page: Page) => page.locator('parley-feedback').first().getAttribute('data-state');

  /** The one answer that was sent, after its revisions; each was sent with one content. */
  function theAnswer() {
    const contents = new Map<number, string>();
    const answers = site.answers.filter(({ state }) => state !== 'seen'); // other cards may have been seen
    for (const { id, revision, state, values, comment } of answers) {
      expect(id).toBe(answers[0]?.id);
      const content = JSON.stringify([state, values, comment]);
      expect(contents.get(revision) ?? content).toBe(content);
      contents.set(revision, content);
    }
    return answers.toSorted((a, b) => a.revision - b.revision).at(-1);
  }

  test('is shown by the next page where it was left, and goes on as the same answer', async () => {
    await using watched = await open([cardOf(FOLLOWED)]);
    const { page, complaints } = watched;
    await page.getByRole('radio', { name: '6 of 10' }).check();
    await comment(page).fill('Fine');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByLabel('Export').check();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('textbox').pressSequentially('Half a sen');
    await load(page);
    const sent = { main: 6, reason: { option_ids: ['1'] } };
    await waitFor(async () => theAnswer()?.values?.more === 'Half a sen'); // sent when the page went
    expect(theAnswer()).toMatchObject({ state: 'partial', values: sent, comment: 'Fine' });
    await heading(page, 'Tell us more').waitFor();
    expect(await page.evaluate(() => (window as never as { count: number }).count)).toBe(1);
    expect(await page.getByRole('textbox').inputValue()).toBe('Half a sen');
    await page.getByText('Step 3 of 3').waitFor();
    await page.getByRole('button', { name: 'Back' }).click();
    expect(await page.getByLabel('Export').isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Back' }).click();
    expect(await comment(page).inputValue()).toBe('Fine');
    await page.getByRole('radio', { name: '7 of 10' }).check();
    await load(page); // a second time, on the first step
    expect(await page.getByRole('radio', { name: '7 of 10' }).isChecked()).toBe(true);
    for (const name of ['Next', 'Next', 'Send']) await page.getByRole('button', { name }).click();
    await page.getByText('Thank you for your feedback.').waitFor();
    await waitFor(async () => theAnswer()?.state === 'completed');
    expect(theAnswer()?.values).toEqual({ main: 7, reason: { option_ids: ['1'] }, more: 'Half a sen' });
    expect(new Set(site.answers.map(({ displayed_at }) => displayed_at)).size).toBe(1);
    expect(await keptIn(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('keeps what is typed although it cannot be sent', async () => {
    await using watched = await open([cardOf([STEPS.single as never])]);
    const { page } = watched;
    await page.getByRole('radio', { name: 'Other' }).check();
    await page.getByRole('textbox', { name: 'Please specify' }).fill('x'.repeat(5001));
    await load(page);
    expect(await page.getByRole('radio', { name: 'Other' }).isChecked()).toBe(true);
    expect((await page.getByRole('textbox').inputValue()).length).toBe(5001);
    await page.getByText('Please enter no more than 5000 characters.').waitFor();
  });

  test('is shown to its user only, and without a token on the device', async () => {
    await using watched = await open([cardOf([NPS])]);
    const { page } = watched;
    await page.getByRole('radio', { name: '2 of 10' }).check();
    await comment(page).fill('My secret');
    await load(page, '/?user=user|2');
    expect(await state(page)).toBe('empty');
    expect(await page.evaluate(() => (window as never as { count: number }).count)).toBe(0);
    await load(page);
    expect(await comment(page).inputValue()).toBe('My secret');
    expect(await page.evaluate(() => Object.values(localStorage).join())).not.toContain('eyJ'); // no token is stored
  });

  test.each<[string, (page: Page) => Promise<unknown>, string]>([
    ['sent', page => page.getByRole('button', { name: 'Send' }).click(), 'completed'],
    ['declined', page => page.getByRole('button', { name: 'Not now' }).click(), 'partial'],
    ['closed', page => page.getByRole('button', { name: 'Close' }).click(), 'partial'],
    ['ended by a logout', page => page.evaluate(() => window.parley.client.logout()), 'partial'],
  ])('does not come back once it was %s', async (_, end, last) => {
    await using watched = await open([cardOf([NPS])], '/?placement=popover-top-left');
    const { page } = watched;
    await page.getByRole('radio', { name: '2 of 10' }).check();
    await load(page, '/?placement=popover-top-left');
    await heading(page, NPS.title).waitFor();
    await comment(page).fill('Last words');
    await end(page);
    await waitFor(async () => theAnswer()?.comment === 'Last words' && theAnswer()?.state === last);
    expect(await keptIn(page)).toEqual([]);
    await load(page, '/?placement=popover-top-left');
    expect(await state(page)).toBe('empty');
  });

  test('comes back for fifteen minutes, and not after expires_at', async () => {
    const expires_at = new Date(Date.now() + 20 * MINUTE).toISOString();
    for (const [card, later, comes] of [
      [cardOf([NPS]), 14 * MINUTE, true],
      [cardOf([NPS]), 16 * MINUTE, false],
      [cardOf([NPS], { expires_at }), 14 * MINUTE, true],
      [cardOf([NPS], { expires_at: new Date(Date.now() + 5 * MINUTE).toISOString() }), 6 * MINUTE, false],
    ] as const) {
      site.answers.length = 0;
      await using watched = await open([card]);
      const { page } = watched;
      await page.getByRole('radio', { name: '2 of 10' }).check();
      await load(page, `/?later=${later}`);
      expect(await page.getByRole('radio', { name: '2 of 10' }).count()).toBe(Number(comes));
      expect((await keptIn(page)).length).toBe(Number(comes));
    }
  });

  const withoutLocks = (context: BrowserContext) =>
    context.addInitScript(() => Object.defineProperty(navigator, 'locks', { value: undefined }));

  test.each<[string, ((context: BrowserContext) => Promise<unknown>) | undefined]>([
    ['a Web Lock', undefined],
    ['a lease', withoutLocks],
  ])('is shown by one tab at a time: %s', async (_, prepare) => {
    const card = cardOf([NPS]);
    await using watched = await open([card], '/', prepare);
    const { page: first, context } = watched;
    await first.getByRole('radio', { name: '2 of 10' }).check();
    const second = await context.newPage();
    site.cards = [card, cardOf([THUMBS])]; // the list may still have it
    await load(second);
    await heading(second, THUMBS.title).waitFor();
    await load(first);
    expect(await first.getByRole('radio', { name: '2 of 10' }).isChecked()).toBe(true);
    site.cards = [];
    await load(second);
    expect(await state(second)).toBe('empty');
    await comment(first).fill('Half a');
    await first.close({ runBeforeUnload: true });
    await waitFor(async () => {
      await load(second);
      return (await heading(second, NPS.title).count()) === 1;
    });
    expect(await comment(second).inputValue()).toBe('Half a');
    await second.getByRole('button', { name: 'Send' }).click();
    await waitFor(async () => theAnswer()?.state === 'completed');
  });

  test('disappears from the other tabs when it is begun', async () => {
    const card = cardOf([NPS]);
    await using watched = await open([card]);
    const { page: first, context } = watched;
    const second = await context.newPage();
    site.cards = [card, cardOf([THUMBS])];
    await load(second);
    await heading(second, NPS.title).waitFor();
    await first.getByRole('radio', { name: '2 of 10' }).check();
    await heading(second, THUMBS.title).waitFor();
    expect(site.answers.filter(({ state }) => state === 'dismissed')).toEqual([]);
  });

  test('is skipped if it is damaged, of another format, or of a kind that this version cannot show', async () => {
    await using watched = await open([cardOf([NPS])]);
    const { page, complaints } = watched;
    await page.getByRole('radio', { name: '2 of 10' }).check();
    const [name = ''] = await keptIn(page);
    await page.goto(site.url('/left'));
    const text = (await page.evaluate(name => localStorage.getItem(name), name)) as string;
    const kept = JSON.parse(text);
    const changed = (change: object) => JSON.stringify({ ...kept, ...change });
    const damaged = [
      '{',
      'null',
      '[]',
      '"x"',
      text.slice(0, 100),
      changed({ at: 'x' }),
      changed({ input: null }),
      changed({ input: { position: {} } }),
      changed({ answer: {} }),
      changed({ card: { ...kept.card, steps: null } }),
      changed({ card: { ...kept.card, steps: [{ ...NPS, config: null }] } }),
      changed({ card: { ...kept.card, kind: 'reply', steps: [] } }),
      changed({ card: { ...kept.card, steps: [{ ...NPS, type: 'matrix' }] } }),
      changed({ card: { ...kept.card, steps: [{ ...NPS, show_if: { xor: [] } }] } }),
    ];
    const other = cardOf([THUMBS]);
    for (const content of damaged) {
      await page.evaluate(([name, content]) => localStorage.setItem(name, content), [name, content] as const);
      site.cards = [other];
      await load(page);
      await heading(page, THUMBS.title).waitFor({ timeout: 5000 });
      expect([content, await page.evaluate(() => window.parley.errors), complaints]).toEqual([content, [], []]);
    }
  });

  test.each<[string, () => void]>([
    [
      'denied',
      () =>
        Object.defineProperty(window, 'localStorage', {
          get: () => {
            throw new DOMException('denied', 'SecurityError');
          },
        }),
    ],
    [
      'full',
      () => {
        Storage.prototype.setItem = () => {
          throw new DOMException('full', 'QuotaExceededError');
        };
      },
    ],
  ])('is not kept by a storage that is %s, and is sent as ever', async (_, spoil) => {
    await using watched = await open([cardOf([NPS])], '/', context => context.addInitScript(spoil));
    const { page, complaints } = watched;
    await page.getByRole('radio', { name: '2 of 10' }).check();
    await load(page);
    await waitFor(async () => theAnswer()?.values?.main === 2);
    expect(await state(page)).toBe('empty');
    expect([await page.evaluate(() => window.parley.errors), complaints]).toEqual([[], []]);
  });

  test('does not come back with an older revision if the storage was full for the last one', async () => {
    await using watched = await open([cardOf([NPS])]);
    const { page } = watched;
    await page.getByRole('radio', { name: '2 of 10' }).check();
    await page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException('full', 'QuotaExceededError');
      };
    });
    await page.getByRole('radio', { name: '3 of 10' }).check();
    expect(await keptIn(page)).toEqual([]);
    await load(page);
    expect(await state(page)).toBe('empty');
    await waitFor(async () => theAnswer()?.values?.main === 3);
  });

  test('comes back in each of several views', async () => {
    const cards = [cardOf([NPS]), cardOf([THUMBS], { question_id: 'question_2' })];
    await using watched = await open(cards, '/two?placement=inline');
    const { page } = watched;
    await page.getByRole('radio', { name: '2 of 10' }).check();
    await page.getByRole('radio', { name: 'Thumbs down' }).check();
    await load(page, '/two?placement=inline');
    await page.getByRole('radio', { name: '2 of 10', checked: true }).waitFor();
    await page.getByRole('radio', { name: 'Thumbs down', checked: true }).waitFor();
    expect((await keptIn(page)).length).toBe(2);
  });

  test.each(['popover-bottom-right', 'modal', 'button'])('is open again: %s', async placement => {
    const path = `/?placement=${placement}`;
    site.cards = [cardOf([NPS])];
    await using watched = await openPage(browser);
    const { page } = watched;
    await load(page, path);
    if (placement === 'button') await page.getByRole('button', { name: 'Feedback' }).click();
    await page.getByRole('radio', { name: '2 of 10' }).check();
    site.cards = [];
    await load(page, path);
    await page.getByRole('radio', { name: '2 of 10', checked: true }).waitFor();
    expect(await page.locator('[part~=panel]').isVisible()).toBe(true);
  });

  test('goes on in a view that a router removes and puts back', async () => {
    await using watched = await open([cardOf([NPS])]);
    const { page } = watched;
    await page.getByRole('radio', { name: '2 of 10' }).check();
    await page.evaluate(async () => {
      const view = document.querySelector('parley-feedback') as HTMLElement;
      view.remove();
      await new Promise(done => setTimeout(done));
      document.body.append(view);
    });
    await page.getByRole('radio', { name: '2 of 10', checked: true }).waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await waitFor(async () => theAnswer()?.state === 'completed');
  });

  test('a person who changes her mind, goes back a step and closes the card is counted with her last score', async () => {
    await using watched = await open([cardOf(FOLLOWED)], '/?placement=popover-bottom-right');
    const { page } = watched;
    await page.getByRole('radio', { name: '9 of 10' }).check();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Back' }).click();
    await page.keyboard.type('10');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Well, no: 1 0 out of ten');
    await page.getByRole('radio', { name: '4 of 10' }).check();
    await load(page, '/?placement=popover-bottom-right');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByLabel('Reports').check();
    await page.getByRole('button', { name: 'Close' }).click();
    await waitFor(async () => theAnswer()?.values?.reason !== undefined);
    expect(theAnswer()).toMatchObject({
      ...{ state: 'partial', values: { main: 4, reason: { option_ids: ['0'] } }, comment: 'Well, no: 1 0 out of ten' },
    });
    expect(await state(page)).toBe('empty');
  });
});
