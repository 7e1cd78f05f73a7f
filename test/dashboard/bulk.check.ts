import type { Locator, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { seedConversations } from '../support/conversations-seed.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { asPerson, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

const MANY = 250;
/** A conversation with the maximum number of tags. */
const FULL = 130;

/** Adds the maximum number of tags to a conversation. */
const FILL = `update conversations set tags = array(select 'tag' || n from generate_series(1, 20) as n) where identity = $1`;

describe.runIf(hasBrowser())('changing many conversations', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let page: Page;
  const list = () => page.getByRole('grid', { name: 'Conversations' });
  const row = (number: number) => list().getByRole('row', { name: `user|${number}`, exact: true });
  const box = (number: number) => page.getByLabel(`Select conversation with user|${number}`, { exact: true });
  const bar = () => page.getByRole('region', { name: 'Selection' });
  const run = () => page.getByRole('region', { name: 'Bulk change' });
  const selected = (text: string) => bar().getByText(text, { exact: true }).waitFor();
  const choose = async (menu: string, item: string) => {
    await bar().getByRole('button', { name: menu, exact: true }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  const done = async (results: string) => {
    await run().getByText(results, { exact: true }).waitFor();
    await run().getByRole('button', { name: 'Dismiss' }).click();
  };
  const count = async (condition: string): Promise<number> => {
    const rows = await dashboard.installation.database.query(
      `select count(*)::int from conversations where ${condition}`,
    );
    return (rows[0] as { count: number }).count;
  };

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
    await dashboard.installation.database.query(seedConversations(), [MANY]);
    await dashboard.installation.database.query(FILL, [`user|${FULL}`]);
    await dashboard.open(pathTo('inbox'));
    await row(1).waitFor();
  }, 300_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('conversations are selected by click, as a range and with the keyboard, and opening one keeps them', async () => {
    await box(2).check();
    await box(5).click({ modifiers: ['Shift'] });
    await selected('4 selected');
    await row(1).click();
    await page.getByRole('region', { name: 'Conversation', exact: true }).waitFor();
    await selected('4 selected');
    await page.keyboard.press('x');
    await selected('5 selected');
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await selected('3 selected');
    await expectNoViolations(dashboard.person);
    await page.keyboard.press('Escape');
    await selected('Select all');
    await row(4).focus();
    await page.keyboard.press('x');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+X');
    await selected('3 selected');
  });

  test('the selected ones are assigned, prioritized, snoozed and tagged', async () => {
    await choose('Priority', 'High');
    await done('3 changed');
    expect(await count(`priority = 'high' and identity in ('user|4', 'user|5', 'user|6')`)).toBe(3);
    for (const number of [4, 5]) await box(number).check();
    await choose('Assign', 'Me');
    await done('2 changed');
    for (const number of [4, 5, 6]) await box(number).check();
    await choose('Assign', 'Me');
    await done('1 changed · 2 unchanged');
    await box(1).check();
    await choose('Snooze', 'Tomorrow morning');
    await done('1 changed');
    expect(await count(`status = 'snoozed' and snoozed_until > now()`)).toBe(1);
    await row(1).waitFor({ state: 'detached' }); // it is no longer open
    await box(2).check();
    await bar().getByRole('button', { name: 'Snooze', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Choose a time …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Snooze' });
    await dialog.getByLabel('Snooze until').fill('2020-01-01T09:00');
    await dialog.getByRole('button', { name: 'Snooze', exact: true }).click();
    await dialog.getByText('Choose a time from one minute to one year ahead.').waitFor();
    await expectNoViolations(dashboard.person);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await bar().getByRole('button', { name: 'Clear selection' }).click();
  });

  test('a field of the tenant is set and emptied, once the tenant has fields', async () => {
    await box(2).check();
    expect(await bar().getByRole('button', { name: 'Fields', exact: true }).count()).toBe(0);
    await asPerson(page, 'PATCH', '/v1/tenant', {
      custom_fields: [
        { key: 'order', label: 'Order number', type: 'text' },
        { key: 'seats', label: 'Seats', type: 'number' },
        { key: 'tier', label: 'Tier', type: 'choice', options: ['Gold', 'Silver'] },
      ],
    });
    await page.reload();
    const setField = async (field: string, act: (dialog: Locator) => Promise<unknown>) => {
      for (const number of [2, 3]) await box(number).check();
      await bar().getByRole('button', { name: 'Fields', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Fields' });
      await dialog.getByLabel('Field', { exact: true }).selectOption(field);
      await act(dialog);
      await dialog.getByRole('button', { name: 'Change field' }).click();
    };
    await setField('Tier', async dialog => {
      await dialog.getByRole('button', { name: 'Change field' }).click();
      await dialog.getByText('Required', { exact: true }).waitFor(); // the field keeps its value
      await expectNoViolations(dashboard.person);
      await dialog.getByLabel('Value', { exact: true }).selectOption('Gold');
    });
    await run().getByText('Tier: Gold', { exact: true }).waitFor();
    await done('2 changed');
    await setField('Seats', dialog => dialog.getByLabel('Value', { exact: true }).fill('12'));
    await done('2 changed');
    expect(await count(`custom = '{"tier": "Gold", "seats": 12}'`)).toBe(2);
    await setField('Tier', dialog => dialog.getByLabel('Remove the value').check());
    await run().getByText('Tier: no value', { exact: true }).waitFor();
    await done('2 changed');
    expect(await count(`custom = '{"seats": 12}'`)).toBe(2);
  });

  test('a change of all that match is confirmed, stopped, and continued; a refused one is listed', async () => {
    let isHeld = true;
    const held: Route[] = [];
    await page.route('**/v1/conversations/bulk', route => (isHeld ? void held.push(route) : route.continue()));
    await page.getByLabel('Select all in the list').check();
    await selected('50 selected');
    await bar().getByRole('button', { name: 'Select all matching' }).click();
    await selected('All matching are selected');
    await bar().getByRole('button', { name: 'Tags' }).click();
    await page.getByLabel('Add tag').last().fill('autumn');
    await page.keyboard.press('Enter');
    await expectNoViolations(dashboard.person);
    await page.getByRole('button', { name: 'Change tags' }).click();
    const question = page.getByRole('alertdialog', { name: 'Change all matching conversations?' });
    await expectNoViolations(dashboard.person);
    await question.getByRole('button', { name: 'Change all' }).click();
    await waitFor(async () => held.length === 1);
    expect(JSON.parse(held[0]?.request().postData() ?? '').ids).toHaveLength(100);
    await run().getByRole('button', { name: 'Stop' }).click();
    await run().getByText('Stopping…').waitFor();
    await expectNoViolations(dashboard.person);
    isHeld = false;
    await held[0]?.continue();
    await run().getByText('Stopped after 100').waitFor();
    expect(await count(`'autumn' = any(tags)`)).toBe(100);

    await page.getByRole('link', { name: 'Home' }).click(); // the run belongs to no page
    await page.getByRole('heading', { level: 1, name: 'Getting started' }).waitFor();
    await page.getByRole('link', { name: 'Inbox' }).click();
    await run().getByRole('button', { name: 'Continue' }).click();
    await run().getByText('248 changed · 1 conflict', { exact: true }).waitFor();
    expect(await count(`'autumn' = any(tags)`)).toBe(MANY - 2); // without the snoozed one and the full one
    await run().getByRole('button', { name: 'Details' }).click();
    const details = page.getByRole('dialog', { name: 'Not changed' });
    await details.getByText('It would have more than 20 tags.').waitFor();
    await expectNoViolations(dashboard.person);
    await details.getByRole('link').click();
    await page
      .getByRole('region', { name: 'Conversation', exact: true })
      .getByRole('link', { name: `user|${FULL}` })
      .waitFor();
    await run().getByRole('button', { name: 'Dismiss' }).click();
    await page.unroute('**/v1/conversations/bulk');
  });

  test('a change of another member is no fault, and a deleted conversation is reported', async () => {
    await box(7).check();
    await box(8).check();
    const [{ id } = { id: '' }] = (await asPerson(page, 'GET', '/v1/conversations?identity=user%7C8')).data;
    await page.route('**/v1/conversations?*', route => route.abort()); // the list does not know yet
    await asPerson(page, 'DELETE', `/v1/conversations/${id}`);
    await choose('Status', 'Resolved');
    await run().getByText('1 changed · 1 not found', { exact: true }).waitFor();
    await page.unroute('**/v1/conversations?*');
    await done('1 changed · 1 not found');
    expect(await count(`status = 'resolved'`)).toBe(1);
  });
});
