import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WorkerProcess } from '../../../src/worker/worker.ts';
import { createApi, createWorker, type TestApi, waitFor } from '../../support/api.ts';
import { expectNoViolations, openPage, type Watched } from '../../support/browser.ts';
import { hasBrowser, openBrowser } from '../../support/chromium.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../../support/make.ts';
import { bundleApp, servePage } from './page-server.ts';

const options = [
  { id: 'reports', label: 'Reports' },
  { id: 'export', label: 'Export' },
];
const NPS = {
  type: 'nps',
  title: 'How likely are you to recommend us?',
  description: 'To a friend.',
  config: { labels: { low: 'Not at all', high: 'Very' } },
  priority: 100,
};
const CHOICES = {
  type: 'multi_choice',
  title: 'What do you use?',
  config: { options, allow_other: true },
  priority: 90,
};
const TEXT = { type: 'text', title: 'What is missing?', config: { max_length: 200 }, priority: 80 };

/** One question of each type with all features of its card. */
const EVERY_TYPE = [
  NPS,
  CHOICES,
  TEXT,
  { type: 'csat', title: 'How was it?', config: { style: 'smiley' }, priority: 70 },
  { type: 'ces', title: 'How easy was it?', priority: 60 },
  { type: 'rating', title: 'How many stars?', config: { style: 'star', scale: 5 }, priority: 50 },
  { type: 'thumbs', title: 'Did it help?', priority: 40 },
  { type: 'single_choice', title: 'Which one?', config: { options, shuffle: true, allow_other: true }, priority: 30 },
  { type: 'date', title: 'When was it?', priority: 20 },
  { type: 'consent', title: 'May we write to you?', priority: 15 },
  { type: 'statement', title: 'There is something new.', config: { url: 'https://example.com/news' }, priority: 10 },
];

const state = (page: Page) => page.locator('parley-feedback').getAttribute('data-state');
const heading = (page: Page, title: string) => page.getByRole('heading', { name: title });

describe.runIf(hasBrowser())('<parley-feedback> in a browser', () => {
  let api: TestApi;
  let worker: WorkerProcess & AsyncDisposable;
  let browser: Browser;
  let app: string;
  const pages: AsyncDisposable[] = [];

  beforeAll(async () => {
    [api, browser, app] = await Promise.all([createApi(), openBrowser(), bundleApp()]);
    worker = await createWorker(api);
  });
  afterAll(async () => {
    for (const page of pages) await page[Symbol.asyncDispose]();
    await browser?.close();
    await worker?.[Symbol.asyncDispose]();
    await api?.[Symbol.asyncDispose]();
  });

  /** Serves the app of a tenant with live questions. `url` opens the app as a user. */
  async function serve(questions: object[]) {
    const tenant = await makeTenant(api);
    for (const question of questions)
      await publishQuestion(api, tenant, { frequency: { ignore_cooldown: true }, ...question });
    const server = await servePage(tenant, app, api.baseUrl);
    pages.push(server);
    const url = (user = 'user|1', language = 'en') =>
      `${server.url}/?user=${encodeURIComponent(user)}&base=${encodeURIComponent(api.baseUrl)}&lang=${language}`;
    return { tenant, url };
  }

  async function open(url: string): Promise<Watched> {
    const watched = await openPage(browser);
    pages.push(watched);
    await watched.page.goto(url);
    return watched;
  }

  const answersOf = async (tenant: TestTenant) =>
    (await api.request('GET', '/v1/answers?limit=100', { as: tenant.key.apiKey })).body.data as {
      id: string;
      identity: string;
      state: string;
      values: Record<string, unknown>;
      comment: string | null;
      metadata: Record<string, unknown>;
    }[];

  /** The answers of a tenant, once `count` are stored in this state. */
  const answersOnce = (tenant: TestTenant, state: string, count = 1) =>
    waitFor(async () => {
      const found = (await answersOf(tenant)).filter(answer => answer.state === state);
      return found.length === count && found;
    });

  test('every type of question is shown, and axe finds no violations', async () => {
    const { url } = await serve(EVERY_TYPE);
    const watched = await open(url());
    for (const { title } of EVERY_TYPE) {
      await heading(watched.page, title).waitFor();
      await expectNoViolations(watched);
      const last = watched.page
        .getByRole('button', { name: 'Not now' })
        .or(watched.page.getByRole('button', { name: 'OK' }));
      await last.click();
    }
    await watched.page.getByText('Thank you for your feedback.').waitFor();
    await expectNoViolations(watched);
    expect(await watched.page.evaluate(() => window.parley.errors)).toEqual([]);
  });

  test('in German, on a narrow dark page, axe finds no violations', async () => {
    const { url } = await serve([NPS, CHOICES]);
    const watched = await open(url('user|1', 'de-CH'));
    await watched.page.emulateMedia({ colorScheme: 'dark' });
    await watched.page.setViewportSize({ width: 320, height: 640 });
    await watched.page.getByRole('button', { name: 'Senden' }).click();
    await watched.page.getByText('Bitte beantworten Sie die Frage.').waitFor();
    await expectNoViolations(watched);
    const isWide = await watched.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(isWide).toBe(false);
  });

  test('with the keyboard only', async () => {
    const { tenant, url } = await serve([NPS, CHOICES, TEXT]);
    const { page } = await open(url());
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await heading(page, NPS.title).waitFor();
    await press('Tab', 'Space', 'ArrowRight', 'ArrowRight', 'Tab');
    await page.keyboard.type('Fine.');
    await press('Tab', 'Enter');
    await heading(page, CHOICES.title).waitFor();
    await press('Tab', 'Space', 'Tab', 'Tab', 'Space'); // Other opens its field, which has the focus
    await page.keyboard.type('Search');
    await press('Enter');
    await heading(page, TEXT.title).waitFor();
    await press('Tab');
    await page.keyboard.type('Dark mode');
    await press('Tab', 'Enter');
    await page.getByText('Thank you for your feedback.').waitFor();
    const stored = await answersOnce(tenant, 'completed', 3);
    expect(stored.map(({ values, comment }) => ({ values, comment }))).toEqual(
      expect.arrayContaining([
        { values: { main: 2 }, comment: 'Fine.' },
        { values: { main: { option_ids: ['reports'], other_text: 'Search' } }, comment: null },
        { values: { main: 'Dark mode' }, comment: null },
      ]),
    );
    expect(stored[0]?.metadata).toMatchObject({ platform: 'web', locale: 'en' });
  });

  test('an invalid answer shows its fault and is not sent', async () => {
    const email = { type: 'text', title: 'Your address?', config: { input: 'email' } };
    const { tenant, url } = await serve([email]);
    const { page } = await open(url());
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Please answer the question.').waitFor();
    await page.getByRole('textbox').fill('nobody');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Please enter an email address.').waitFor();
    expect(
      await page.getByRole('textbox').evaluate(field => field === (field.getRootNode() as ShadowRoot).activeElement),
    ).toBe(true);
    await page.getByRole('textbox').fill('ada@acme.example');
    await page.getByRole('button', { name: 'Send' }).click();
    expect((await answersOnce(tenant, 'completed'))[0]?.values).toEqual({ main: 'ada@acme.example' });
  });

  test('offline and back', async () => {
    const { tenant, url } = await serve([NPS]);
    const { page, context } = await open(url());
    await heading(page, NPS.title).waitFor();
    await context.setOffline(true);
    await page.getByRole('radio', { name: '9 of 10' }).check();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Thank you for your feedback.').waitFor();
    await waitFor(async () => (await page.evaluate(async () => (await window.parley.outbox.waiting()).length)) === 1);
    expect((await answersOf(tenant)).filter(each => each.state === 'completed')).toEqual([]);
    await context.setOffline(false);
    expect((await answersOnce(tenant, 'completed'))[0]?.values).toEqual({ main: 9 });
    await waitFor(async () => (await page.evaluate(async () => (await window.parley.outbox.waiting()).length)) === 0);
  });

  test('opened offline it appears when the network returns', async () => {
    const { url } = await serve([NPS]);
    const { page, context } = await openPage(browser);
    await context.route('**/v1/cards*', route => route.abort());
    await page.goto(url());
    await waitFor(async () => (await page.evaluate(() => window.parley.errors.length)) > 0);
    expect(await state(page)).toBe('empty');
    await context.unroute('**/v1/cards*');
    await context.setOffline(true);
    await context.setOffline(false);
    await heading(page, NPS.title).waitFor();
    await context.close();
  });

  /** Counts how often the pages of a context send each answer. */
  function countSent(context: BrowserContext): Map<string, number> {
    const sent = new Map<string, number>();
    context.on('response', response => {
      const request = response.request();
      if (request.method() !== 'POST' || !request.url().endsWith('/v1/answers')) return;
      for (const { id, revision } of (request.postDataJSON() as { answers: { id: string; revision: number }[] })
        .answers)
        sent.set(`${id} ${revision}`, (sent.get(`${id} ${revision}`) ?? 0) + 1);
    });
    return sent;
  }

  test('two tabs share waiting answers, and send each once', async () => {
    const { tenant, url } = await serve([{ ...NPS, frequency: { repeat: 'always', ignore_cooldown: true } }]);
    const { page: first, context } = await open(url());
    const second = await context.newPage();
    // Both show the same card, although the second one would hide it when the first one begins it.
    await second.addInitScript(() => addEventListener('storage', event => event.stopImmediatePropagation()));
    await second.goto(url());
    for (const page of [first, second]) await heading(page, NPS.title).waitFor();
    await context.setOffline(true);
    for (const page of [first, second]) {
      await page.bringToFront();
      await page.getByRole('radio', { name: '7 of 10' }).check();
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText('Thank you for your feedback.').waitFor();
    }
    for (const page of [first, second])
      await waitFor(async () => (await page.evaluate(async () => (await window.parley.outbox.waiting()).length)) === 2);
    const sent = countSent(context);
    await context.setOffline(false);
    await answersOnce(tenant, 'completed', 2);
    const failed = [...sent].filter(([, times]) => times > 1);
    expect(sent.size).toBe(2);
    expect(failed).toEqual([]);
  });

  test.each(['closed', 'left'])('a page that is %s while answering loses no answer', async how => {
    const { tenant, url } = await serve([NPS]);
    const { page, context } = await open(url());
    await heading(page, NPS.title).waitFor();
    await page.getByRole('radio', { name: '4 of 10' }).check();
    await page.getByLabel('Anything to add?').pressSequentially('Half a');
    if (how === 'left') await page.goto('about:blank');
    else {
      await context.newPage(); // the context stays open, as a browser does
      await page.close({ runBeforeUnload: true });
    }
    const answer = await waitFor(async () => (await answersOf(tenant)).find(({ comment }) => comment === 'Half a'));
    expect(answer).toMatchObject({ state: 'partial', values: { main: 4 }, identity: 'user|1' });
  });

  test('a view that is removed from the page syncs', async () => {
    const { tenant, url } = await serve([NPS]);
    const { page } = await open(url());
    await heading(page, NPS.title).waitFor();
    await waitForRecorded(page);
    await page.evaluate(() => document.querySelector('parley-feedback')?.remove());
    expect((await answersOnce(tenant, 'seen'))[0]?.identity).toBe('user|1');
  });

  const recorded = (page: Page) =>
    page.evaluate(async () => (await window.parley.outbox.waiting()).map(({ answer }) => answer.state));
  const waitForRecorded = (page: Page) => waitFor(async () => (await recorded(page)).length > 0);

  test('a card counts as seen after half of it was visible for a second, in a visible tab', async () => {
    const { tenant, url } = await serve([NPS]);
    const { page } = await open(`${url()}&below=1`);
    await heading(page, NPS.title).waitFor();
    await page.waitForTimeout(1500); // below the fold
    expect(await recorded(page)).toEqual([]);
    await page.evaluate(async () => {
      document.querySelector('parley-feedback')?.scrollIntoView();
      await new Promise(done => setTimeout(done, 300)); // in the page: on a busy machine, a second call could come too late
      scrollTo(0, 0);
    });
    await page.waitForTimeout(1500);
    expect(await recorded(page)).toEqual([]);
    await page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
      document.querySelector('parley-feedback')?.scrollIntoView();
    });
    await page.waitForTimeout(1500); // the tab is hidden
    expect(await recorded(page)).toEqual([]);
    await page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'visible', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await waitForRecorded(page);
    expect(await recorded(page)).toEqual(['seen']);
    await page.evaluate(() => document.querySelector('parley-feedback')?.remove());
    await answersOnce(tenant, 'seen');
  });

  test('a card that was not seen is not recorded when the view is removed or the page hidden', async () => {
    const { url } = await serve([NPS]);
    const { page } = await open(`${url()}&below=1`);
    await heading(page, NPS.title).waitFor();
    await page.evaluate(() => {
      dispatchEvent(new Event('pagehide'));
      document.querySelector('parley-feedback')?.remove();
    });
    await page.waitForTimeout(200);
    expect(await recorded(page)).toEqual([]);
  });

  test('the app learns the answer, and the thanks can be closed', async () => {
    const { url } = await serve([NPS]);
    const { page } = await open(url());
    await page.evaluate(() => {
      addEventListener('parley-answer', event => {
        const { card, ...content } = (event as CustomEvent).detail;
        Object.assign(window, { learnt: { ...content, question: card.steps[0].title } });
      });
    });
    await page.getByRole('radio', { name: '9 of 10' }).check();
    await page.getByLabel('Anything to add?').fill('Great.');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Thank you for your feedback.').waitFor();
    expect(await page.evaluate(() => (window as never as { learnt: unknown }).learnt)).toEqual({
      ...{ state: 'completed', values: { main: 9 }, comment: 'Great.', question: NPS.title },
    });
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('Thank you for your feedback.').waitFor({ state: 'detached' });
    expect(await state(page)).toBe('empty');
  });

  test('the thanks disappear on their own', async () => {
    const { url } = await serve([NPS]);
    const { page } = await open(url());
    await page.clock.install();
    await page.getByRole('radio', { name: '9 of 10' }).check();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Thank you for your feedback.').waitFor();
    await page.mouse.move(0, 0);
    await page.clock.runFor(9000);
    await waitFor(async () => (await state(page)) === 'empty');
  });

  test('a database that the browser closes under the page is opened again', async () => {
    const { tenant, url } = await serve([NPS]);
    const { page } = await open(url());
    await heading(page, NPS.title).waitFor();
    await waitForRecorded(page);
    await page.evaluate(() => {
      for (const database of window.parley.databases) database.close();
    });
    await page.getByRole('radio', { name: '6 of 10' }).check();
    await page.getByRole('button', { name: 'Send' }).click();
    expect(await answersOnce(tenant, 'completed')).toMatchObject([{ values: { main: 6 } }]);
    expect(await recorded(page)).toEqual([]);
    expect(await page.evaluate(() => window.parley.errors)).toEqual([]);
  });

  test('a full disk is reported, and the answer is sent', async () => {
    const { tenant, url } = await serve([NPS]);
    const { page } = await open(url());
    await heading(page, NPS.title).waitFor();
    await page.evaluate(() => {
      IDBObjectStore.prototype.put = () => {
        throw new DOMException('The quota is exceeded.', 'QuotaExceededError');
      };
    });
    await page.getByRole('radio', { name: '5 of 10' }).check();
    await page.getByRole('button', { name: 'Send' }).click();
    expect(await answersOnce(tenant, 'completed')).toMatchObject([{ values: { main: 5 } }]);
    expect((await page.evaluate(() => window.parley.errors)).join()).toContain('The quota is exceeded');
  });

  test("after a logout the next user starts without the previous user's data", async () => {
    const { tenant, url } = await serve([NPS]);
    const { page, context } = await open(url());
    await heading(page, NPS.title).waitFor();
    await context.route('**/v1/answers', route => route.abort());
    await page.getByRole('radio', { name: '3 of 10' }).check();
    await page.evaluate(() => {
      window.parley.user = 'user|2';
      window.parley.client.logout();
    });
    await waitFor(async () => (await page.getByRole('radio', { checked: true }).count()) === 0);
    await context.unroute('**/v1/answers');
    await page.getByRole('radio', { name: '8 of 10' }).check();
    await page.getByRole('button', { name: 'Send' }).click();
    expect(await answersOnce(tenant, 'completed')).toMatchObject([{ identity: 'user|2', values: { main: 8 } }]);
    await page.evaluate(() => {
      window.parley.user = 'user|1';
      window.parley.client.logout();
    });
    expect(await answersOnce(tenant, 'partial')).toMatchObject([{ identity: 'user|1', values: { main: 3 } }]);
  });
});
