import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Card, CardStep, NewAnswer } from '../../../clients/javascript/src/index.ts';
import { createApi, type TestApi, waitFor } from '../../support/api.ts';
import { expectNoViolations, openPage, type Watched } from '../../support/browser.ts';
import { hasBrowser, openBrowser } from '../../support/chromium.ts';
import { makeTenant, publishQuestion } from '../../support/make.ts';
import { POLYGLOTS } from '../../support/polyglots.ts';
import { contract } from '../contract.ts';
import { bundleApp, servePage } from './page-server.ts';

const [NPS, HELP] = (contract('steps').cards as { card: Card }[]).map(({ card }) => card) as [Card, Card];

const heading = (page: Page, title: string) => page.getByRole('heading', { name: title });
const focused = (page: Page) =>
  page.evaluate(() => document.querySelector('parley-feedback')?.shadowRoot?.activeElement?.textContent);

describe.runIf(hasBrowser())('cards with several steps in a browser', () => {
  let api: TestApi;
  let browser: Browser;
  let pageServer: Awaited<ReturnType<typeof servePage>>;
  const pages: AsyncDisposable[] = [];

  beforeAll(async () => {
    let app: string;
    [api, browser, app] = await Promise.all([createApi(), openBrowser(), bundleApp()]);
    const tenant = await makeTenant(api);
    await publishQuestion(api, tenant);
    pageServer = await servePage(tenant, app, api.baseUrl);
  });
  afterAll(async () => {
    for (const page of pages) await page[Symbol.asyncDispose]();
    await browser?.close();
    await pageServer?.[Symbol.asyncDispose]();
    await api?.[Symbol.asyncDispose]();
  });

  /** Opens the app with these cards instead of the server's, and records the answers instead of sending them. */
  async function open(cards: Card[], language = 'en'): Promise<Watched & { sent: NewAnswer[] }> {
    const watched = await openPage(browser);
    pages.push(watched);
    const sent: NewAnswer[] = [];
    const { context, page } = watched;
    const headers = { 'Access-Control-Allow-Origin': '*' };
    await context.route('**/v1/cards*', route =>
      route.request().method() === 'GET'
        ? route.fulfill({ headers, json: { data: cards, poll_after_s: 60 } })
        : route.continue(),
    );
    await context.route('**/v1/answers', async route => {
      if (route.request().method() !== 'POST') return route.continue();
      const { answers } = route.request().postDataJSON() as { answers: NewAnswer[] };
      sent.push(...answers);
      const results = answers.map(({ id, revision }) => ({ id, revision, status: 'accepted' }));
      await route.fulfill({ status: 202, headers, json: { results } });
    });
    const query = new URLSearchParams({ user: 'user|1', base: api.baseUrl, lang: language });
    await page.goto(`${pageServer.url}/?${query}`);
    return { ...watched, sent };
  }

  const completed = (sent: NewAnswer[]) => waitFor(async () => sent.find(({ state }) => state === 'completed'));
  const recorded = (page: Page) =>
    page.evaluate(async () => (await window.parley.outbox.waiting()).map(({ answer }) => answer)[0]);

  test('by keyboard: forward, back, and around a step that a change hides', async () => {
    const watched = await open([NPS]);
    const { page, sent } = watched;
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const [main, reason, detail, contact, email] = NPS.steps.map(({ title }) => title) as [string, ...string[]];
    await heading(page, main).waitFor();
    await expectNoViolations(watched);
    expect(await page.getByRole('button').allTextContents()).toEqual(['Send', 'Not now']);

    await press('Tab', 'Space', 'ArrowRight', 'ArrowRight');
    await page.getByText('Step 1 of 3').waitFor();
    await press('Enter');
    await heading(page, reason as string).waitFor();
    expect(await focused(page)).toBe(reason);
    expect(await page.getByRole('heading', { level: 2 }).count()).toBe(1);
    await expectNoViolations(watched);
    await waitFor(async () => (await recorded(page))?.values?.main === 2);

    await press('Enter');
    await press('Tab', 'Enter'); // without a selection the fault is shown, and the step stays
    await page.getByText('Please answer the question.').waitFor();
    await expectNoViolations(watched);
    await press('Tab', 'Space'); // Speed
    await page.getByText('Step 2 of 4').waitFor();
    await press('Enter');
    await heading(page, detail as string).waitFor();
    await press('Tab');
    await page.keyboard.type('Search');
    await page.getByRole('button', { name: 'Back' }).focus();
    await press('Enter');
    await heading(page, reason as string).waitFor();
    expect(await focused(page)).toBe(reason);
    await waitFor(async () => (await recorded(page))?.values?.detail === 'Search');
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(1);
    await page.getByRole('button', { name: 'Back' }).focus();
    await press('Enter');
    await heading(page, main).waitFor();
    expect(await page.getByRole('radio', { name: '2 of 10' }).isChecked()).toBe(true);

    // A promoter is not asked for reasons: the values of those steps are dropped.
    await page.getByRole('radio', { name: '2 of 10' }).focus();
    await press('ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight');
    await page.getByText('Step 1 of 2').waitFor();
    await waitFor(async () => JSON.stringify((await recorded(page))?.values) === '{"main":9}');
    await press('Enter');
    await heading(page, contact as string).waitFor();
    await press('Tab', 'Space');
    await page.getByText('Step 2 of 3').waitFor();
    await press('Enter');
    await heading(page, email as string).waitFor();
    await press('Tab');
    await page.keyboard.type('ada');
    await press('Enter');
    await page.getByText('Please enter an email address.').waitFor();
    await page.keyboard.type('@example.com');
    await expectNoViolations(watched);
    await press('Enter');
    await page.getByText('Thank you for your feedback.').waitFor();

    const answer = await completed(sent);
    expect(answer).toMatchObject({
      values: { main: 9, contact: true, email: 'ada@example.com' },
      metadata: { card_locale: 'en', platform: 'web' },
    });
    expect(Object.keys(answer?.values ?? {})).toHaveLength(3);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
    expect(await page.evaluate(() => window.parley.errors)).toEqual([]);
  });

  test('in German on a narrow dark page, axe finds no violations at any step', async () => {
    const watched = await open([HELP], 'de-AT');
    const { page, sent } = watched;
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 320, height: 640 });
    await page.getByRole('radio', { name: 'Daumen runter' }).check();
    await page.getByText('Schritt 1 von 3').waitFor();
    for (const { title } of HELP.steps) {
      await heading(page, title).waitFor();
      await expectNoViolations(watched);
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      expect(isWide).toBe(false);
      await page.getByRole('button', { name: /^(Weiter|Senden)$/ }).click();
    }
    expect(await completed(sent)).toMatchObject({ values: { main: false }, metadata: { card_locale: 'de' } });
  });

  test('a page that is hidden between two steps sends the steps so far', async () => {
    const { page, sent } = await open([NPS]);
    await page.getByRole('radio', { name: '4 of 10' }).check();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('checkbox').first().check();
    await page.evaluate(() => dispatchEvent(new Event('pagehide')));
    const last = await waitFor(async () => sent.find(({ values }) => values?.reason));
    expect(last).toMatchObject({ state: 'partial', values: { main: 4, reason: { option_ids: expect.any(Array) } } });
  });

  test('a card with a single step has neither progress nor Back', async () => {
    const { page } = await open([{ ...NPS, steps: NPS.steps.slice(0, 1) }]);
    await page.getByRole('radio', { name: '4 of 10' }).check();
    expect(await page.getByRole('button').allTextContents()).toEqual(['Send', 'Not now']);
    expect(await page.locator('[part=progress]').isVisible()).toBe(false);
    expect(await page.getByRole('textbox', { name: 'Anything to add?' }).isVisible()).toBe(true);
  });

  test.each<[string, Partial<CardStep>]>([
    ['type', { type: 'ranking' as never }],
    ['operator', { show_if: { step: 'main', op: 'matches' as never, value: 'a' } }],
    ['form of a condition', { show_if: { none: [] } as never }],
  ])('a card with an unknown %s is not shown', async (_, change) => {
    const [main, ...others] = NPS.steps as [CardStep, CardStep];
    const later = { ...NPS, steps: [main, { ...others[0], ...change }] } as Card;
    const { page } = await open([later, HELP]);
    await heading(page, HELP.steps[0]?.title as string).waitFor();
    await page.getByRole('button', { name: 'Not now' }).click();
    await waitFor(async () => (await page.locator('parley-feedback').getAttribute('data-state')) !== 'card');
    expect(await heading(page, main.title).count()).toBe(0);
  });

  test('texts are shown as they are, never as HTML', async () => {
    const texts = [...POLYGLOTS];
    const options = (from: number) => texts.slice(from, from + 30).map((label, id) => ({ id: `${id}`, label }));
    const step = (key: string, type: CardStep['type'], index: number, config: CardStep['config']): CardStep => ({
      ...{ key, type, title: texts[index] as string, description: texts[index + 1] as string, config },
      ...{ required: false, show_if: null },
    });
    const steps = [
      step('main', 'nps', 0, { labels: { low: texts[5] as string, high: texts[6] as string } }),
      step('a', 'multi_choice', 1, { options: options(0) }),
      step('b', 'single_choice', 2, { options: options(30), allow_other: true }),
      step('c', 'text', 3, {}),
      step('d', 'statement', 4, { url: 'javascript:alert(1)' }),
    ];
    const watched = await open([{ ...NPS, steps }]);
    const { page } = watched;
    let dialogs = 0;
    page.on('dialog', () => dialogs++);
    for (const [index, { title, description, config }] of steps.entries()) {
      await heading(page, title).waitFor();
      if (index > 0) expect(await focused(page)).toBe(title);
      const content = await page.evaluate(() => {
        const root = document.querySelector('parley-feedback')?.shadowRoot as ShadowRoot;
        const made = root.querySelectorAll('script, img, svg, iframe, a').length;
        return { made, text: root.textContent };
      });
      expect(content.made).toBe(0);
      for (const text of [title, description, ...(config.options ?? []).map(({ label }) => label)])
        expect(content.text).toContain(text);
      if (index < steps.length - 1) await page.getByRole('button', { name: 'Next' }).click();
    }
    expect(dialogs).toBe(0);
  });

  test("fields of the app's own are stored with the answer; too many are an error at once", async () => {
    const { page, sent } = await open([HELP]);
    await heading(page, HELP.steps[0]?.title as string).waitFor();
    const set = (count: number, more: Record<string, string> = {}) =>
      page.evaluate(
        fields => {
          const view = document.querySelector('parley-feedback') as HTMLElementTagNameMap['parley-feedback'];
          try {
            view.context = fields;
            return 'set';
          } catch (error) {
            return (error as { kind: string }).kind;
          }
        },
        { ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`field_${index}`, 'x'])), ...more },
      );
    expect(await set(18)).toBe('set');
    const names = [{ platform: 'x' }, { card_locale: 'x' }, { trigger: 'x' }, { 'a b': 'x' }, { a: 'x'.repeat(257) }];
    for (const more of names) expect(await set(1, more)).toBe('invalid-argument');
    expect(await set(19)).toBe('invalid-argument');
    await page.evaluate(() => document.querySelector('parley-feedback')?.reload());
    await page.evaluate(() => window.parley.client.logout()); // the next card has the new context
    await waitFor(async () => (await heading(page, HELP.steps[0]?.title as string).count()) === 1);
    await page.getByRole('radio', { name: 'Thumbs up' }).check();
    await page.getByRole('button', { name: 'Send' }).click();
    const { metadata = {} } = (await completed(sent)) as NewAnswer;
    expect(Object.keys(metadata).filter(name => name.startsWith('field_'))).toHaveLength(18);
    expect(metadata).toMatchObject({ card_locale: 'de', platform: 'web' });
  });
});
