import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Card, Trigger } from '../../../clients/javascript/src/index.ts';
import type { WorkerProcess } from '../../../src/worker/worker.ts';
import { createApi, createWorker, type TestApi, waitFor } from '../../support/api.ts';
import { openPage, type Watched } from '../../support/browser.ts';
import { hasBrowser, openBrowser } from '../../support/chromium.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../../support/make.ts';
import { bundleApp, servePage } from './page-server.ts';

const heading = (page: Page, title: string) => page.getByRole('heading', { name: title });
const track = (page: Page, name: string) => page.evaluate(event => window.parley.client.track?.(event), name);
/** Time that a card would take to appear after an event, several times over. */
const settle = (page: Page) => page.evaluate(() => new Promise(resolve => setTimeout(resolve, 300)));

describe.runIf(hasBrowser())('triggers in a browser', () => {
  let api: TestApi;
  let worker: WorkerProcess & AsyncDisposable;
  let browser: Browser;
  let app: string;
  const opened: AsyncDisposable[] = [];

  beforeAll(async () => {
    [api, browser, app] = await Promise.all([createApi(), openBrowser(), bundleApp()]);
    worker = await createWorker(api);
  });
  afterAll(async () => {
    for (const each of opened) await each[Symbol.asyncDispose]();
    await browser?.close();
    await worker?.[Symbol.asyncDispose]();
    await api?.[Symbol.asyncDispose]();
  });

  /** Opens the app of a new tenant, which has a question for each title, with the trigger of its card. */
  async function open(
    triggers: Record<string, Partial<Trigger> | null>,
    frequency: object = {},
  ): Promise<Watched & { tenant: TestTenant; fetches: URL[] }> {
    const tenant = await makeTenant(api);
    for (const title of Object.keys(triggers))
      await publishQuestion(api, tenant, { title, frequency: { ignore_cooldown: true, ...frequency } });
    const server = await servePage(tenant, app, api.baseUrl);
    const watched = await openPage(browser);
    opened.push(watched, server);
    const fetches: URL[] = [];
    await watched.context.route('**/v1/cards*', async route => {
      fetches.push(new URL(route.request().url()));
      const response = await route.fetch();
      if (response.status() !== 200) return route.fulfill({ response });
      const body = await response.json();
      for (const card of body.data as Card[]) {
        const given = triggers[card.steps[0]?.title ?? ''];
        if (given) {
          const none = { event: null, click: null, where: [], url: null, count: 1, delay_s: 0, cancel_on: [] };
          card.trigger = { ...none, ...given };
        }
      }
      await route.fulfill({ response, json: body });
    });
    const query = new URLSearchParams({ user: 'user|1', base: api.baseUrl, triggers: '' });
    const fetched = watched.page.waitForEvent('console', { predicate: message => message.text() === 'fetched' });
    await watched.page.addInitScript(() => addEventListener('parley-cards', () => console.log('fetched')));
    await watched.page.goto(`${server.url}/?${query}`);
    await fetched;
    return { ...watched, tenant, fetches };
  }

  const answersOf = async (tenant: TestTenant) =>
    (await api.request('GET', '/v1/answers?limit=100', { as: tenant.key.apiKey })).body.data as {
      state: string;
      metadata: Record<string, unknown>;
    }[];
  const triggerStored = (tenant: TestTenant, trigger: string) =>
    waitFor(async () => (await answersOf(tenant)).some(({ metadata }) => metadata.trigger === trigger));

  test('a click shows the card, and the answer records the selector', async () => {
    const { page, tenant } = await open({
      Buy: { click: '#buy, .buy' },
      Broken: { click: ':nonsense(' },
      Other: { click: '#sell' },
    });
    await page.evaluate(() => {
      const button = Object.assign(document.createElement('button'), { id: 'buy' });
      button.append(Object.assign(document.createElement('span'), { textContent: 'Buy now' }));
      document.body.append(button);
    });
    await settle(page);
    expect(await page.locator('parley-feedback').getAttribute('data-state')).toBe('empty');
    await page.getByText('Buy now').click();
    await heading(page, 'Buy').waitFor();
    await page.getByRole('button', { name: 'Not now' }).click();
    await triggerStored(tenant, 'click: #buy, .buy');
    expect(await page.locator('parley-feedback').getAttribute('data-state')).toBe('empty');
  });

  test('a page view shows the card when a router changes the URL', async () => {
    const { page, tenant } = await open({ Pricing: { url: { op: 'ends_with', value: '/pricing' } } });
    await settle(page);
    expect(await heading(page, 'Pricing').count()).toBe(0);
    await page.evaluate(() => history.pushState(null, '', '/pricing'));
    await heading(page, 'Pricing').waitFor();
    await page.getByRole('button', { name: 'Not now' }).click();
    await triggerStored(tenant, 'url: /pricing');
  });

  /** Goes to a page of a single-page app. */
  const navigate = (page: Page, path: string, how: 'pushState' | 'replaceState' = 'pushState') =>
    page.evaluate(([how, path]) => history[how](null, '', path), [how, path] as const);

  test('an untouched card for one page hides on other pages without a dismissal, and returns as the same view of it', async () => {
    const { page, tenant } = await open({ Pricing: { url: { op: 'ends_with', value: '/pricing' } } });
    await navigate(page, '/pricing');
    await heading(page, 'Pricing').waitFor();
    await waitFor(() => page.evaluate(async () => (await window.parley.outbox.waiting()).length > 0)); // it is seen
    await navigate(page, '/blog');
    await heading(page, 'Pricing').waitFor({ state: 'detached' });
    expect(await page.locator('parley-feedback').getAttribute('data-state')).toBe('empty');
    await page.goBack();
    await heading(page, 'Pricing').waitFor();
    await navigate(page, '/blog', 'replaceState');
    await heading(page, 'Pricing').waitFor({ state: 'detached' });
    await navigate(page, '/pricing');
    await page.getByRole('radio', { name: '9' }).check();
    await navigate(page, '/blog'); // a touched one stays until it is finished
    await settle(page);
    expect(await page.getByRole('radio', { name: '9' }).isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Send' }).click();
    const answers = await waitFor(async () => {
      const found = await answersOf(tenant);
      return found.some(({ state }) => state === 'completed') && found;
    });
    expect(answers.map(({ state }) => state)).toEqual(['completed']); // one view, one answer
  });

  test('a browser without the Navigation API notices a router too', async () => {
    const { page } = await open({ Pricing: { url: { op: 'ends_with', value: '/pricing' } } });
    await page.addInitScript(() => Object.defineProperty(window, 'navigation', { value: undefined }));
    await page.reload();
    await page.waitForFunction(() => window.parley?.client.pollAfterMs() && localStorage['parley-triggers']);
    await navigate(page, '/pricing');
    await heading(page, 'Pricing').waitFor();
    await navigate(page, '/blog');
    await heading(page, 'Pricing').waitFor({ state: 'detached' });
  });

  test('the page on which a returning user starts shows the card', async () => {
    const { page } = await open({ Pricing: { url: { op: 'contains', value: 'visit=2' } } });
    await page.goto(`${page.url()}&visit=2`);
    await heading(page, 'Pricing').waitFor({ timeout: 5000 });
  });

  test('the third event shows the card, after a restart without a network', async () => {
    const { page, context, tenant } = await open({ Third: { event: 'saved', count: 3 } });
    await track(page, 'saved');
    await track(page, 'saved');
    await context.route('**/v1/**', route => route.abort());
    await page.reload();
    await waitFor(async () => (await page.evaluate(() => window.parley?.errors.length)) > 0);
    expect(await heading(page, 'Third').count()).toBe(0);
    await track(page, 'saved');
    await heading(page, 'Third').waitFor();
    await page.getByRole('button', { name: 'Not now' }).click();
    await context.unroute('**/v1/**');
    await page.evaluate(() => window.parley.outbox.flush());
    await triggerStored(tenant, 'saved');
  });

  test('a displayed card stays when the list is fetched again, and an event before it changes nothing', async () => {
    const { page } = await open({ First: { event: 'first' }, Second: { event: 'second' } });
    await track(page, 'first');
    await track(page, 'second');
    await heading(page, 'First').waitFor();
    await page.evaluate(() => document.querySelector('parley-feedback')?.reload());
    await heading(page, 'First').waitFor();
    await page.getByRole('button', { name: 'Not now' }).click();
    await heading(page, 'Second').waitFor();
  });

  test('the list is fetched again after an answer, and the answered card does not return', async () => {
    const { page, fetches } = await open({ Plain: null }, { repeat: 'always' });
    expect(fetches.map(url => url.searchParams.get('triggers'))).toEqual(['true']);
    await page.getByRole('radio', { name: '9' }).check();
    await page.getByRole('button', { name: 'Send' }).click();
    await waitFor(() => fetches.length === 2);
    await page.getByRole('button', { name: 'Close' }).click();
    await settle(page);
    expect(await page.locator('parley-feedback').getAttribute('data-state')).toBe('empty');
  });

  test('the list is fetched again when the tab is visible after poll_after_s', async () => {
    const { page, fetches } = await open({ Plain: null });
    const show = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await show();
    await settle(page);
    expect(fetches.length).toBe(1);
    await page.evaluate(() => {
      const { client } = window.parley;
      const { now } = client.wire;
      Object.assign(client.wire, { now: () => now() + client.pollAfterMs() });
    });
    await show();
    await waitFor(() => fetches.length === 2);
  });
});
