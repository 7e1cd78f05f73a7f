import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, openPage, panel, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { loadedBytes } from '../support/pages.ts';
import { asBearer, asPerson, type ShownKey, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

/** Counts changes of the canvas's attributes, which Chart.js makes when it destroys or creates a chart. */
const WATCH_CANVAS = `window.recreated = 0;
  for (const canvas of document.querySelectorAll('canvas'))
    new MutationObserver(all => (window.recreated += all.filter(({ attributeName }) => attributeName !== 'style').length))
      .observe(canvas, { attributes: true });
  window.canvases = [...document.querySelectorAll('canvas')];`;

describe.runIf(hasBrowser())('answers and charts', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let ada: Watched;
  let page: Page;
  let key: ShownKey;
  let choice: string;
  let nps: string;
  let recurring: string;
  const open = (path: string) => dashboard.open(path);
  const publish = async (body: object): Promise<string> => {
    const { id } = await asPerson(page, 'POST', '/v1/questions', body);
    await asPerson(page, 'POST', `/v1/questions/${id}/publish`);
    return id;
  };
  const answer = (identity: string, question_id: string, main: unknown, comment?: string) =>
    asBearer(dashboard.installation.baseUrl, key.api_key, 'POST', '/v1/answers', {
      answers: [
        {
          id: randomUUID(),
          identity,
          revision: 1,
          question_id,
          question_version: 1,
          state: 'completed',
          values: { main },
          ...(comment ? { comment } : {}),
        },
      ],
    });

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ person: ada, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
    key = await asPerson(page, 'POST', '/v1/api-keys', { name: 'backend', kind: 'server' });
    const options = [
      { id: 'fil-1', label: 'Hand filter' },
      { id: 'pre-1', label: 'French press' },
    ];
    choice = await publish({ type: 'single_choice', title: 'What do you brew with?', config: { options } });
    nps = await publish({ type: 'nps', title: 'How likely?' });
    recurring = await publish({ type: 'nps', title: 'And today?', frequency: { repeat: 'always' } });
    await answer('mara', choice, { option_id: 'fil-1' });
    await answer('jonas', choice, { option_id: 'pre-1' });
    await answer('ines', nps, 9, 'Very good');
    await answer('tobi', nps, 2);
  }, 300_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('a bar leads to the people behind it, and a row to the card as it was shown', async () => {
    await open(pathTo('questionResults', { id: choice }));
    await page.getByRole('rowheader', { name: 'Hand filter' }).getByRole('link').click();
    await page.getByRole('cell', { name: 'Hand filter' }).waitFor();
    await page.getByRole('link', { name: 'mara' }).waitFor();
    expect(await page.getByRole('link', { name: 'jonas' }).count()).toBe(0);
    await expectNoViolations(ada);
    await page.getByRole('button', { name: 'View answer of mara' }).click();
    const card = page.getByRole('dialog').getByRole('group', { name: 'Card' });
    expect(await card.getByRole('radio', { name: 'Hand filter' }).isChecked()).toBe(true);
    expect(await card.getByRole('radio', { name: 'French press' }).isDisabled()).toBe(true);
    expect(await card.getByRole('button').count()).toBe(0);
    await expectNoViolations(ada);
    await page.keyboard.press('Escape');
    await page.reload();
    await page.getByRole('link', { name: 'mara' }).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('link', { name: 'jonas' }).waitFor();
  });

  test('the preview is the card of the client, and a test answer is in the chart next to it within a second', async () => {
    await open(pathTo('question', { id: nps }));
    const preview = page.getByRole('group', { name: 'Preview' });
    await preview.getByRole('radio', { name: '0 of 10', exact: true }).waitFor();
    await page.getByLabel('Language of the preview').focus(); // the rest with the keyboard only
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    for (let at = 0; at < 9; at++) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Only a test');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('1 test answer in the last 24 hours').waitFor();
    await expectNoViolations(ada);
    await page.getByText('Show as table').click();
    await page.getByRole('row', { name: '9 1' }).waitFor();
    expect(await asPerson(page, 'GET', `/v1/questions/${nps}/results`)).toMatchObject({ answered: 2 });

    await page.getByLabel('Language of the preview').selectOption('de');
    await preview.getByRole('radio', { name: '3 von 10' }).check();
    await preview.getByRole('button', { name: 'Senden' }).click();
    await preview.getByText('Vielen Dank für Ihr Feedback.').waitFor();
    await page.getByText('2 test answers in the last 24 hours').waitFor();
    await page.getByRole('button', { name: 'Show the card again' }).click();
    await preview.getByRole('button', { name: 'Nicht jetzt' }).click();
    await page.getByRole('button', { name: 'Show the card again' }).waitFor();
  });

  test('the preview shows unsaved words, whose answers are not recorded', async () => {
    await open(pathTo('question', { id: nps }));
    await page.getByRole('textbox', { name: 'Question', exact: true }).fill('Other words?');
    const preview = page.getByRole('group', { name: 'Preview' });
    await preview.getByText('Other words?').waitFor();
    await page.getByText('Save the question to record test answers.').waitFor();
    const sent: string[] = [];
    page.on('request', request => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await preview.getByRole('radio', { name: '5 of 10' }).check();
    await preview.getByRole('button', { name: 'Send' }).click();
    await preview.getByText('Thank you for your feedback.').waitFor();
    expect(sent.filter(request => request.includes('answers'))).toEqual([]);
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Discard changes' }).click();
    await preview.getByText('How likely?').waitFor();
  });

  test('a test answer that is refused is reported', async () => {
    await page.route('**/v1/answers', route =>
      route.fulfill({
        status: 202,
        json: { results: [{ id: null, revision: null, status: 'rejected', code: 'unknown-version' }] },
      }),
    );
    const preview = page.getByRole('group', { name: 'Preview' });
    await preview.getByRole('button', { name: 'Not now' }).click();
    await page.getByText('The test answer was not stored. Try again.').waitFor();
    await page.unroute('**/v1/answers');
  });

  test('the page of results loads at most 260 KB of scripts and styles', async () => {
    await open(pathTo('questionResults', { id: nps }));
    await page.locator('canvas').first().waitFor();
    await page.reload(); // the first load may have been of another page
    await page.locator('canvas').first().waitFor();
    await page.waitForTimeout(500);
    const bytes = await loadedBytes(page);
    console.log(`results: ${(bytes / 1024).toFixed(1)} KB`);
    expect(bytes).toBeGreaterThan(100 * 1024);
    expect(bytes).toBeLessThanOrEqual(260 * 1024);
  });

  test('the table of a chart leads to the same rows', async () => {
    await open(pathTo('questionResults', { id: nps }));
    await page.getByText('Show as table').first().click();
    await page.getByRole('cell', { name: '9', exact: true }).getByRole('link').click();
    await page.getByText('Very good').waitFor();
    expect(await page.getByRole('link', { name: 'tobi' }).count()).toBe(0);
  });

  test('the timeline of a person has answers with labels, conversations and the card as it was shown', async () => {
    const { id } = await asPerson(page, 'POST', '/v1/conversations', { identity: 'mara', message: 'Which filter?' });
    for (let at = 0; at < 22; at++) await answer('mara', recurring, at % 11);
    await waitFor(async () => (await asPerson(page, 'GET', '/v1/answers?identity=mara&limit=30')).data.length === 23);
    await open(pathTo('identity', { identity: 'mara' }));
    const timeline = panel(page, 'Timeline');
    const entries = timeline.getByRole('listitem');
    await waitFor(async () => (await entries.count()) === 20);
    expect(await timeline.getByText('Which filter?').count()).toBe(0); // older than an answer that is not fetched yet
    await timeline.getByRole('button', { name: 'Show more' }).click();
    await waitFor(async () => (await entries.count()) === 25);
    await timeline.getByRole('link', { name: 'Which filter?' }).waitFor();
    await timeline.getByText('Hand filter').waitFor();
    expect(await page.getByText('fil-1').count()).toBe(0);
    await timeline.getByRole('button', { name: 'View card What do you brew with?' }).click();
    const card = page.getByRole('dialog').getByRole('group', { name: 'Card' });
    await waitFor(() => card.getByRole('radio', { name: 'Hand filter' }).isChecked());
    await expectNoViolations(ada);
    await page.keyboard.press('Escape');
    await timeline.getByLabel('Entries').selectOption('conversations');
    await waitFor(async () => (await entries.count()) === 1);
    await page.reload();
    await waitFor(async () => (await entries.count()) === 1);
    await timeline.getByRole('link', { name: 'Which filter?' }).click();
    await waitFor(async () => page.url().includes(id));
  });

  test('the timeline of a person has changes of the profile, with values before and after and their author', async () => {
    const { baseUrl } = dashboard.installation;
    const profile = '/v1/identities/nora';
    await asBearer(baseUrl, key.api_key, 'PUT', profile, { attributes: { plan: 'free', city: 'Ulm' }, locale: 'de' });
    await asBearer(baseUrl, key.api_key, 'PATCH', profile, { attributes: { plan: 'pro', city: null } });
    await asPerson(page, 'PATCH', profile, { locale: 'en', app_version: '4.2' });
    await answer('nora', nps, 7);
    await open(pathTo('identity', { identity: 'nora' }));
    const timeline = panel(page, 'Timeline');
    const entry = (title: string) => timeline.getByRole('listitem').filter({ hasText: title });
    await entry('Profile changed by Ada').waitFor();
    const textsOf = async (title: string) =>
      (await entry(title).locator('ul > li').allInnerTexts()).map(text => text.split(/\s*\n\s*/).filter(Boolean));
    expect(await textsOf('Profile changed by Ada')).toEqual([
      ['App version', 'after:', '4.2'],
      ['Language', 'before:', 'de', 'after:', 'en'],
    ]);
    expect(await textsOf('Profile changed with an API key')).toEqual([
      ['city · value removed'],
      ['plan', 'before:', 'free', 'after:', 'pro'],
    ]);
    expect(await page.getByText('Ulm').count()).toBe(0);
    await timeline.getByText('First seen').waitFor();
    await expectNoViolations(ada);
    await timeline.getByLabel('Entries').selectOption('profile');
    await waitFor(async () => (await timeline.locator('ol > li').count()) === 2);
  });

  test('a chart is updated in place', async () => {
    await open(pathTo('questionResults', { id: nps }));
    await page.locator('canvas').first().waitFor();
    await page.waitForTimeout(500);
    await page.evaluate(WATCH_CANVAS);
    await answer('petra', nps, 10, 'A fourth one');
    await page.getByText('A fourth one').waitFor();
    await waitFor(async () => (await page.locator('dd', { hasText: /^4$/ }).count()) > 0);
    await page.waitForTimeout(500);
    expect(await page.evaluate('window.canvases.every(canvas => canvas.isConnected)')).toBe(true);
    expect(await page.evaluate('window.recreated')).toBe(0);
  });

  test('failures are in the language of the reader, with the time of the next attempt', async () => {
    const storageState = await ada.context.storageState();
    await using german = await openPage(dashboard.browser, { locale: 'de-DE', storageState });
    const problem = {
      code: 'rate-limit-exceeded',
      title: 'Too many requests',
      detail: 'The limit is 300.',
      status: 429,
    };
    await german.page.route('**/v1/questions?*', route =>
      route.fulfill({
        status: 429,
        headers: { 'Retry-After': '1' },
        contentType: 'application/problem+json',
        body: JSON.stringify(problem),
      }),
    );
    await german.page.goto(`${dashboard.installation.baseUrl}/dashboard/questions`);
    const alert = german.page.getByRole('alert');
    await alert.getByText('Zu viele Anfragen').waitFor();
    await alert.getByText('Nächster Versuch in 1 Sekunde möglich.', { exact: false }).waitFor();
  });

  test('only scopes of existing features are offered, and secrets do not close by accident', async () => {
    await open(pathTo('general'));
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('button', { name: 'Create API key' }).first().click();
    await page.getByLabel('Name').fill('careful');
    const scopes = await page.getByRole('checkbox').evaluateAll(all => all.map(box => box.getAttribute('value')));
    expect(scopes).toContain('answers:read');
    expect(scopes).not.toContain('exports:create');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const secrets = page.getByRole('dialog', { name: 'API key “careful”' });
    await secrets.waitFor();
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    await page.evaluate('history.back()');
    await page.getByText('Copy the values first, then choose Done.').waitFor();
    await secrets.getByRole('button', { name: 'Done' }).click();
    await secrets.getByText('You have not copied the .env file.', { exact: false }).waitFor();
    await expectNoViolations(ada);
    await secrets.getByRole('button', { name: 'Copy .env' }).click();
    await secrets.getByRole('button', { name: 'Done' }).click();
    await secrets.waitFor({ state: 'detached' });
  });
});

describe.runIf(hasBrowser())('a first visit', { timeout: 240_000 }, () => {
  test('names the setup link and the command, and the setup asks for the time zone', async () => {
    await using dashboard = await openDashboard(undefined, { timezoneId: 'Europe/Berlin' });
    const { page, person, installation } = dashboard;
    await page.goto(`${installation.baseUrl}/dashboard/`);
    await page.getByText('This installation has no owner yet', { exact: false }).waitFor();
    await page.getByText(`${installation.baseUrl}/dashboard/setup#token=…`).waitFor();
    await page.getByText('parley setup create').waitFor();
    await expectNoViolations(person);
    await setUp(page, installation.setupLink);
    expect((await asPerson(page, 'GET', '/v1/tenant')).timezone).toBe('Europe/Berlin');
    await person.context.clearCookies();
    await page.goto(`${installation.baseUrl}/dashboard/`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const bytes = await loadedBytes(page);
    console.log(`login: ${(bytes / 1024).toFixed(1)} KB`);
    expect(bytes).toBeGreaterThan(50 * 1024);
    expect(bytes).toBeLessThanOrEqual(150 * 1024);
  });
});
