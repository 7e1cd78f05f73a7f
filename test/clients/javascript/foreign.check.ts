import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WorkerProcess } from '../../../src/worker/worker.ts';
import { createApi, createWorker, type TestApi, waitFor } from '../../support/api.ts';
import { openPage } from '../../support/browser.ts';
import { hasBrowser, openBrowser } from '../../support/chromium.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../../support/make.ts';
import { bundleApp, servePage } from './page-server.ts';

const NPS = { type: 'nps', title: 'How likely are you to recommend us?', priority: 100 };
const TEXT = { type: 'text', title: 'What is missing?', priority: 50 };
const NUMBER = { type: 'text', title: 'How many?', config: { input: 'number' } };

/** The changes of Prototype.js and MooTools, which many shops still load. */
const OLD_LIBRARY = `
Array.prototype.each = Array.prototype.forEach;
Array.prototype.toJSON = function () { return '[' + this.map(each => JSON.stringify(each)).join(', ') + ']'; };
Array.from = list => [...list];
Array.prototype.entries = function () { return [...this]; };`;

/** Of Debian's packages libjs-prototype and libjs-mootools. */
const LIBRARIES = ['prototype/prototype.js', 'mootools/mootools-core.min.js'].map(
  name => `/usr/share/javascript/${name}`,
);
for (const library of LIBRARIES.filter(each => !existsSync(each)))
  process.stderr.write(`\n*** No ${library}: the view is NOT TESTED with it here. ***\n\n`);

/** The states of the answers on the disk of a page: `outbox.waiting` also has those that are still being written. */
const storedStates = (page: Page): Promise<string[]> =>
  page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const opening = indexedDB.open('parley-outbox');
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const reading = opening.result.transaction('answers').objectStore('answers').getAll();
          reading.onerror = () => reject(reading.error);
          reading.onsuccess = () => {
            opening.result.close();
            resolve(reading.result.map(({ answer }) => answer.state));
          };
        };
      }),
  );

const htmlPage = { status: 403, contentType: 'text/html', body: '<html><body>Blocked</body></html>' };

describe.runIf(hasBrowser())('a view behind systems that are not ours', () => {
  const stack = new AsyncDisposableStack();
  let api: TestApi;
  let worker: WorkerProcess & AsyncDisposable;
  let browser: Browser;
  let app: string;
  beforeAll(async () => {
    [api, browser, app] = await Promise.all([createApi(), openBrowser(), bundleApp()]);
    worker = await createWorker(api);
  });
  afterAll(async () => {
    await stack.disposeAsync();
    await browser?.close();
    await worker?.[Symbol.asyncDispose]();
    await api?.[Symbol.asyncDispose]();
  });

  /** Opens the app of a new tenant; `prepare` changes the page before. */
  async function open(questions: object[], prepare: (context: BrowserContext) => Promise<unknown>) {
    const tenant = await makeTenant(api);
    for (const question of questions)
      await publishQuestion(api, tenant, { frequency: { ignore_cooldown: true }, ...question });
    const server = stack.use(await servePage(tenant, app, api.baseUrl));
    const watched = stack.use(await openPage(browser));
    await prepare(watched.context);
    await watched.page.goto(`${server.url}/?user=user%7C1&base=${encodeURIComponent(api.baseUrl)}`);
    return { tenant, page: watched.page };
  }

  const heading = (page: Page, title: string) => page.getByRole('heading', { name: title });
  const completed = (tenant: TestTenant) =>
    waitFor(async () => {
      const { body } = await api.request('GET', '/v1/answers?state=completed', { as: tenant.key.apiKey });
      return body.data.length > 0 && (body.data as { values: object; comment: string | null }[]);
    });

  test('an answer that a firewall refuses is reported once, and does not hold back the next one', async () => {
    const refuse = (route: Route) =>
      /DROP TABLE/.test(route.request().postData() ?? '') ? route.fulfill(htmlPage) : route.continue();
    const { tenant, page } = await open([NPS, TEXT], context => context.route('**/v1/answers', refuse));
    await page.getByRole('radio', { name: '9 of 10' }).check();
    await page.getByRole('textbox').fill("Robert'); DROP TABLE students;--");
    await page.getByRole('button', { name: 'Send' }).click();
    await heading(page, TEXT.title).waitFor();
    await page.getByRole('textbox').fill('Dark mode');
    await page.getByRole('button', { name: 'Send' }).click();
    expect(await completed(tenant)).toMatchObject([{ values: { main: 'Dark mode' } }]);
    const errors = await page.evaluate(() => window.parley.errors);
    expect(errors).toEqual([expect.stringContaining('refuses the answer')]);
    const waiting = await page.evaluate(() => window.parley.outbox.waiting());
    expect(waiting).toMatchObject([{ answer: { values: { main: 9 } }, nextTryAt: expect.any(Number) }]);

    await page.reload();
    await page.evaluate(() => window.parley.outbox.flush());
    expect(await page.evaluate(() => window.parley.errors)).toEqual([]);
  });

  test('the view returns after the time that the server asks to wait for, plus up to as much', async () => {
    const asked: number[] = [];
    const headers = { 'Retry-After': '2', 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': '*' };
    const limit = (route: Route) => {
      if (route.request().method() !== 'GET' || asked.push(Date.now()) > 1) return route.continue();
      return route.fulfill({ status: 429, headers, json: { code: 'rate-limit-exceeded', status: 429 } });
    };
    const { page } = await open([NPS], context => context.route('**/v1/cards*', limit));
    await heading(page, NPS.title).waitFor();
    const [first = 0, second = 0] = asked;
    expect(second - first).toBeGreaterThanOrEqual(2000);
    expect(second - first).toBeLessThan(10_000); // 4 s, and a busy machine
    expect(await page.evaluate(() => window.parley.errors)).toHaveLength(1);
  });

  test.each(['a model of it', ...LIBRARIES.filter(existsSync)])(
    'a page with an old library shows and sends cards: %s',
    async library => {
      const code = LIBRARIES.includes(library) ? await readFile(library, 'utf8') : OLD_LIBRARY;
      // Once the page is parsed, and before its modules run.
      const content = `document.addEventListener('readystatechange', () => (function () {\n${code}\n}).call(window), { once: true });`;
      const { tenant, page } = await open([NPS], context => context.addInitScript({ content }));
      await page.getByRole('radio', { name: '9 of 10' }).check();
      await page.getByRole('button', { name: 'Send' }).click();
      expect(await completed(tenant)).toMatchObject([{ values: { main: 9 } }]);
      expect(await page.evaluate(() => 'each' in Array.prototype)).toBe(true); // the library is there
    },
  );

  test('an entry that the browser cannot read stays, and does not hold back the others', async () => {
    const { tenant, page } = await open([NPS, TEXT], context =>
      context.addInitScript(() => {
        const { get, getAll } = IDBObjectStore.prototype;
        const lose = (isLost: boolean) => {
          if (isLost) throw new DOMException('Failed to read large IndexedDB value', 'DataError');
        };
        IDBObjectStore.prototype.getAll = function (...query) {
          lose(localStorage.getItem('lost') !== null);
          return getAll.apply(this, query);
        };
        IDBObjectStore.prototype.get = function (id) {
          lose(localStorage.getItem('lost') === id);
          return get.call(this, id);
        };
      }),
    );
    await heading(page, NPS.title).waitFor();
    await page.evaluate(() => {
      window.fetch = () => Promise.reject(new TypeError('Failed to fetch')); // also of requests that outlive the page
    });
    await page.getByRole('radio', { name: '9 of 10' }).check();
    await page.getByRole('button', { name: 'Send' }).click();
    await heading(page, TEXT.title).waitFor();
    await page.getByRole('textbox').fill('Dark mode');
    await page.getByRole('button', { name: 'Send' }).click();
    await waitFor(async () => (await storedStates(page)).join() === 'completed,completed');
    await page.evaluate(async () => {
      const [first] = await window.parley.outbox.waiting();
      localStorage.setItem('lost', first?.id as string);
    });
    await page.reload(); // this page has no answers in memory
    expect(await completed(tenant)).toMatchObject([{ values: { main: 'Dark mode' } }]);
    await page.evaluate(() => localStorage.removeItem('lost'));
    expect(await page.evaluate(() => window.parley.outbox.flush())).toEqual({ outcome: 'done' });
    await waitFor(async () => (await completed(tenant)).length === 2);
  });

  test('a number in the digits of another script is accepted', async () => {
    const { tenant, page } = await open([NUMBER], async () => undefined);
    await page.getByRole('textbox').fill('١٢٫٥');
    await page.getByRole('button', { name: 'Send' }).click();
    expect(await completed(tenant)).toMatchObject([{ values: { main: '12.5' } }]);
  });
});
