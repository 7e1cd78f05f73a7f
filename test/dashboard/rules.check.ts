import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, openPage, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { asPerson, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

describe.runIf(hasBrowser())('who sees a question, when and how often', { timeout: 90_000 }, () => {
  let dashboard: OpenDashboard;
  let ada: Watched;
  let page: Page;
  const open = (path: string) => dashboard.open(path);
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const section = (title: string) => page.locator('summary', { hasText: title }).click();
  const condition = (number: number) => page.getByRole('group', { name: `Condition ${number}`, exact: true });
  const create = async (body: object = {}): Promise<string> =>
    (await asPerson(page, 'POST', '/v1/questions', { type: 'nps', title: 'How likely?', ...body })).id;
  const stored = (id: string) => asPerson(page, 'GET', `/v1/questions/${id}`);
  const saveDraft = async () => {
    await press('Save draft');
    await page.getByText('All changes are saved').waitFor();
  };

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ person: ada, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
    await asPerson(page, 'PATCH', '/v1/tenant', { timezone: 'Europe/Berlin' });
    await asPerson(page, 'PUT', '/v1/identities/mara', { attributes: { plan: 'pro', seats: 7 } });
  }, 120_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('an audience is built from the attributes in use, the device and earlier answers', async () => {
    const other = await create({ title: 'Earlier?' });
    const id = await create();
    await open(pathTo('question', { id }));
    await section('Who');
    await page.getByLabel('Ask', { exact: true }).selectOption('all');
    const first = condition(1);
    await waitFor(async () => (await first.locator('datalist option').count()) === 2);
    await first.getByLabel('Attribute', { exact: true }).fill('seats');
    await waitFor(async () => (await first.getByLabel('Type of the value').count()) === 0);
    await first.getByLabel('Comparison').selectOption('gte');
    await first.getByLabel('Value', { exact: true }).fill('5');
    await press('Add condition');
    await condition(2).getByLabel('Compares').selectOption('platform');
    await condition(2).getByLabel('Comparison').selectOption('in');
    await condition(2).getByLabel('Values, separated by commas').fill('ios, android');
    await press('Add condition');
    await condition(3).getByLabel('Compares').selectOption('answered');
    await condition(3).getByLabel('Question to compare').selectOption(other);
    await condition(3).getByLabel('Comparison').selectOption('lte');
    await condition(3).getByLabel('Value', { exact: true }).selectOption('6');
    await condition(3).getByLabel('Only answers of the last days').fill('30');
    await expectNoViolations(ada);
    await saveDraft();
    const audience = {
      all: [
        { attribute: 'seats', op: 'gte', value: 5 },
        { platform: { op: 'in', value: ['ios', 'android'] } },
        { answered: { question: other, op: 'lte', value: 6, within_days: 30 } },
      ],
    };
    expect((await stored(id)).audience).toEqual(audience);
    await page.reload();
    await page.getByText('3 conditions').waitFor();
    await section('Who');
    expect(await condition(3).getByLabel('Question to compare').inputValue()).toBe(other);
    await page.getByRole('checkbox', { name: 'Show in apps that use a public key' }).check();
    await press('Save draft');
    await page.getByText('can only depend on platform, app_version and locale', { exact: false }).first().waitFor();
    expect((await stored(id)).audience).toEqual(audience);
    await expectNoViolations(ada);
    await press('Discard');
    await press('Discard changes');
    await page.getByText('All changes are saved').waitFor();
    for (const number of [3, 2, 1]) await press(`Remove condition ${number}`);
    await saveDraft();
    expect((await stored(id)).audience).toBe(null);
  });

  test('a schedule is entered in the time zone of the tenant, and faults are shown at their fields', async () => {
    const id = await create();
    await open(pathTo('question', { id }));
    await section('When');
    await page.getByLabel('Starts at', { exact: true }).fill('2031-07-01T09:00');
    await page.getByLabel('Ends at', { exact: true }).fill('2031-06-01T09:00');
    await press('Save draft');
    await page.getByText('must be after', { exact: false }).waitFor();
    expect(await page.getByLabel('Ends at', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await expectNoViolations(ada);
    await page.getByLabel('Ends at', { exact: true }).fill('2031-12-01T09:00');
    await saveDraft();
    expect((await stored(id)).schedule).toEqual({
      ...{ start_at: '2031-07-01T07:00:00.000Z', end_at: '2031-12-01T08:00:00.000Z' },
    });
    await page.reload();
    await section('When');
    expect(await page.getByLabel('Starts at', { exact: true }).inputValue()).toBe('2031-07-01T09:00');
    await press('Publish');
    await press('Publish now');
    await page.getByText('The question is scheduled.').waitFor();
    expect((await stored(id)).status).toBe('scheduled');
    await page.getByText('Scheduled', { exact: true }).first().waitFor();
  });

  test('the year of a schedule is typed, also when there is one already', async () => {
    const id = await create();
    await open(pathTo('question', { id }));
    await section('When');
    const end = page.getByLabel('Ends at', { exact: true });
    await end.focus();
    await page.keyboard.type('030120310900AM');
    expect(await end.inputValue()).toBe('2031-03-01T09:00');
    await end.blur();
    await end.focus();
    for (const key of ['Tab', 'Tab', '2', '0', '3', '2', 'Tab']) await page.keyboard.press(key);
    expect(await end.inputValue()).toBe('2032-03-01T09:00');
    await end.blur();
    await saveDraft();
    expect((await stored(id)).schedule).toEqual({ start_at: null, end_at: '2032-03-01T08:00:00.000Z' });
    expect(ada.complaints).toEqual([]);
  });

  test('trigger, frequency, sampling and limit are saved', async () => {
    const id = await create();
    await open(pathTo('question', { id }));
    await section('When');
    await page.getByLabel('Show the card').selectOption('event');
    await page.getByLabel('Name of the event').fill('order_completed');
    await press('Add property');
    const property = page.getByRole('group', { name: 'Property 1' });
    await property.getByLabel('Property of the event').fill('total');
    await property.getByLabel('Type of the value').selectOption('number');
    await property.getByLabel('Value', { exact: true }).fill('100');
    await page.getByLabel('Times it has to happen').fill('3');
    await page.getByLabel('Events that cancel it').fill('logout, error');
    await page.getByLabel('Repeat').selectOption('every_days');
    await page.getByLabel('Days after the last answer').fill('180');
    await page.getByLabel('Maximum number of displays per person').fill('4');
    await section('How many');
    await page.getByLabel('Share of people in percent').fill('12.5');
    await page.getByLabel('Maximum number of answers').fill('200');
    await page.getByLabel('Counted').selectOption('week');
    await expectNoViolations(ada);
    await saveDraft();
    expect(await stored(id)).toMatchObject({
      trigger: {
        ...{ event: 'order_completed', click: null, url: null, count: 3, delay_s: 0, cancel_on: ['logout', 'error'] },
        where: [{ property: 'total', op: 'gte', value: 100 }],
      },
      frequency: { repeat: 'every_days', every_days: 180, max_displays: 4 },
      sampling_percent: 12.5,
      response_limit: { count: 200, per: 'week' },
    });
    await page.getByLabel('Show the card').selectOption('click');
    await press('Save draft');
    await waitFor(async () => (await page.getByLabel('CSS selector').getAttribute('aria-invalid')) === 'true');
    await page.getByLabel('CSS selector').fill('#done');
    await page.getByLabel('Repeat').selectOption('once');
    await page.getByLabel('Maximum number of answers').fill('');
    await saveDraft();
    expect(await stored(id)).toMatchObject({
      ...{ trigger: { event: null, click: '#done', where: [] }, response_limit: null },
      frequency: { repeat: 'once', every_days: null },
    });
  });

  test('an audience with groups in groups stays as it is', async () => {
    const audience = {
      any: [{ all: [{ verified: true }, { locale: { op: 'eq', value: 'de' } }] }, { verified: false }],
    };
    const id = await create({ audience });
    await open(pathTo('question', { id }));
    await page.getByText('Groups of conditions').first().waitFor();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Renamed');
    await saveDraft();
    expect(await stored(id)).toMatchObject({ name: 'Renamed', audience });
  });

  test('fits a phone', async () => {
    const id = await create({
      ...{ audience: { all: [{ attribute: 'plan', op: 'eq', value: 'pro' }] }, trigger: { event: 'opened' } },
      trigger: { event: 'opened', where: [{ property: 'total', op: 'gte', value: 100 }] },
    });
    const state = await ada.context.storageState();
    await using phone = await openPage(dashboard.browser, {
      ...{ storageState: state, viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
    });
    await dashboard.open(pathTo('question', { id }), phone.page);
    for (const title of ['Who', 'When', 'How many']) await phone.page.locator('summary', { hasText: title }).click();
    await phone.page.getByLabel('Starts at', { exact: true }).waitFor();
    expect(await phone.page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await expectNoViolations(phone);
  });
});
