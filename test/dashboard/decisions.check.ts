import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { asBearer, asPerson, type ShownKey, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

describe.runIf(hasBrowser())('why a person sees a card or not', { timeout: 90_000 }, () => {
  let dashboard: OpenDashboard;
  let ada: Watched;
  let page: Page;
  let key: ShownKey;
  const open = (path: string) => dashboard.open(path);
  const create = async (body: object = {}): Promise<string> =>
    (await asPerson(page, 'POST', '/v1/questions', { type: 'nps', title: 'How likely?', ...body })).id;
  const publish = async (body: object): Promise<string> => {
    const id = await create(body);
    await asPerson(page, 'POST', `/v1/questions/${id}/publish`);
    return id;
  };

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ person: ada, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
    key = await asPerson(page, 'POST', '/v1/api-keys', { name: 'backend', kind: 'server' });
  }, 120_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('the reach of the rules follows their edits, with the conditions that keep people', async () => {
    const question_id = await publish({ title: 'Earlier', frequency: { ignore_cooldown: true } });
    const plans = Object.entries({ mara: 'pro', jon: 'free', kim: 'free' });
    for (const [identity, plan] of plans)
      await asPerson(page, 'PUT', `/v1/identities/${identity}`, { attributes: { plan } });
    const view = { revision: 1, question_id, question_version: 1, state: 'seen', values: {} };
    await asBearer(dashboard.installation.baseUrl, key.api_key, 'POST', '/v1/answers', {
      answers: plans.map(([identity]) => ({ ...view, id: randomUUID(), identity })),
    });
    const id = await create({ audience: { all: [{ attribute: 'plan', op: 'eq', value: 'pro' }] } });
    const judged = () => asPerson(page, 'POST', `/v1/questions/${id}/reach`, {});
    await waitFor(async () => (await judged()).judged === 3);
    await open(pathTo('question', { id }));
    const reach = page.getByRole('status', { name: 'Reach' });
    await reach.getByText('shown to 1 of the last 3 people', { exact: false }).waitFor();
    await reach.getByText('Not in the audience: 2').waitFor();
    await page.locator('summary', { hasText: 'Who' }).focus();
    await page.keyboard.press('Enter');
    const condition = page.getByRole('group', { name: 'Condition 1', exact: true });
    await condition.getByLabel('Value', { exact: true }).fill('free');
    await reach.getByText('shown to 2 of the last 3 people', { exact: false }).waitFor();
    await condition.getByLabel('Attribute', { exact: true }).fill('');
    await reach.getByText('Complete the conditions', { exact: false }).waitFor();
    await condition.getByLabel('Attribute', { exact: true }).fill('plan');
    await page.locator('summary', { hasText: 'When' }).click();
    await page.getByLabel('Maximum number of displays per person').fill('4');
    await reach.getByText('as they were last saved', { exact: false }).waitFor();
    await expectNoViolations(ada);
    await page.getByRole('button', { name: 'Save draft', exact: true }).click();
    await page.getByText('All changes are saved').waitFor();
  });

  test("a person's page has the cards that they see, and why not the others, from when", async () => {
    const frequency = { ignore_cooldown: true };
    const start_at = new Date(Date.now() + 86_400_000).toISOString();
    await publish({ title: 'For everyone', frequency });
    await publish({ title: 'For others', frequency, audience: { all: [{ verified: false }] } });
    await publish({ title: 'For tomorrow', frequency, schedule: { start_at } });
    await open(pathTo('identity', { identity: 'grace' }));
    const cards = page.locator('section', { has: page.getByRole('heading', { name: 'Cards' }) });
    const row = (title: string) => cards.locator('li', { has: page.getByRole('link', { name: title }) });
    await row('For everyone').getByText('Shown', { exact: true }).waitFor();
    await cards.locator('summary').focus();
    await page.keyboard.press('Enter');
    await row('For others').getByText('Not in the audience').waitFor();
    await row('For tomorrow').getByText('Outside of the schedule · until', { exact: false }).waitFor();
    expect(await cards.getByText(/^From /).count()).toBe(1);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('A');
    await expectNoViolations(ada);
  });
});
