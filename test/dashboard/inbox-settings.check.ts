import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, openPage } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { asPerson, join, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

describe.runIf(hasBrowser())('settings of the inbox', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let page: Page;
  const panel = (heading: string) =>
    page.locator('section').filter({ has: page.getByRole('heading', { level: 2, name: heading, exact: true }) });
  const save = (heading: string) => panel(heading).getByRole('button', { name: 'Save changes' }).click();
  const tenant = () => asPerson(page, 'GET', '/v1/tenant');
  /** Waits until the tenant has settings. */
  const stores = (settings: object) =>
    waitFor(async () => {
      const stored = await tenant();
      return Object.entries(settings).every(([name, value]) => isDeepStrictEqual(stored[name], value));
    });

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
    const { link } = await asPerson(page, 'POST', '/v1/members', { email: 'linus@acme.example', role: 'agent' });
    await using linus = await openPage(dashboard.browser);
    await join(linus.page, link, 'Linus');
    await dashboard.open(pathTo('inboxSettings'));
  }, 300_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('reply targets and several office hours a day are saved, and overlapping ones are refused', async () => {
    const replies = panel('Reply times');
    await replies.getByLabel('Urgent').fill('90');
    await replies.getByText('1 hr 30 min').waitFor();
    await replies.getByRole('button', { name: 'Set office hours' }).click();
    const friday = replies.getByRole('group', { name: 'Friday' });
    await friday.getByLabel('To').fill('12:30');
    await friday.getByRole('button', { name: 'Add period on Friday' }).click();
    await friday.getByLabel('From').last().fill('12:00');
    await friday.getByLabel('To').last().fill('00:00');
    await replies.getByRole('button', { name: 'Save changes' }).click();
    await replies.getByRole('alert').waitFor();
    await expectNoViolations(dashboard.person);
    await friday.getByLabel('From').last().fill('13:00');
    await save('Reply times');
    const period = (day: number, from = '09:00', to = '17:00') => ({ day, from, to });
    const days = [...[1, 2, 3, 4].map(day => period(day)), period(5, '09:00', '12:30')];
    await stores({ reply_targets: { urgent: 90 }, office_hours: [...days, period(5, '13:00', '24:00')] });
    await page.reload();
    await replies.getByRole('button', { name: 'Remove period 2 of Friday' }).click();
    await save('Reply times');
    await stores({ office_hours: days });
  });

  test('conversations are resolved after days without a message', async () => {
    await panel('Automatic resolution').getByLabel('Days without a message').fill('14');
    await save('Automatic resolution');
    await stores({ auto_resolve_days: 14 });
  });

  test('custom fields are added, ordered and saved, with faults at their fields', async () => {
    const fields = panel('Custom fields');
    await fields.getByRole('button', { name: 'Add field' }).click();
    await page.keyboard.type('Order number');
    await fields.getByRole('button', { name: 'Add field' }).click();
    await page.keyboard.type('Plan');
    await fields.getByLabel('Type').last().selectOption('Choice');
    await fields.getByLabel('Options').fill('Free\nPro\nFree');
    await expectNoViolations(dashboard.person);
    await fields.getByRole('button', { name: 'Save changes' }).click();
    await fields.locator('[aria-invalid=true]').waitFor();
    await fields.getByLabel('Options').fill('Free\nPro');
    await fields.getByRole('button', { name: 'Move field 2 up' }).click();
    await save('Custom fields');
    await stores({
      custom_fields: [
        { key: 'plan', label: 'Plan', type: 'choice', options: ['Free', 'Pro'] },
        { key: 'order_number', label: 'Order number', type: 'text' },
      ],
    });
  });

  test('assignment rules are built, ordered and saved', async () => {
    const rules = panel('Assignment rules');
    await rules.getByRole('button', { name: 'Add rule' }).click();
    await page.keyboard.type('Everybody');
    await rules.getByLabel('Linus').check();
    await rules.getByRole('button', { name: 'Add rule' }).click();
    await page.keyboard.type('Paying');
    const paying = rules.getByRole('listitem').last();
    await paying.getByLabel('Attribute of the person').fill('plan');
    await paying.getByLabel('Value', { exact: true }).fill('pro');
    await paying.getByLabel('Priority', { exact: true }).selectOption('No priority');
    await paying.getByLabel('Assign to').selectOption('One member');
    await paying.getByLabel('Set the priority').selectOption('High');
    await paying.getByLabel('Add tag', { exact: true }).fill('paying');
    await page.keyboard.press('Enter');
    await rules.getByRole('button', { name: 'Save rules' }).click();
    await paying.getByText('Required').waitFor();
    await expectNoViolations(dashboard.person);
    await paying.getByLabel('Member', { exact: true }).selectOption('Ada');
    await rules.getByRole('button', { name: 'Move rule 2 up' }).click();
    await rules.getByText('Moved to position 1.').waitFor();
    await rules.getByRole('button', { name: 'Save rules' }).click();
    await rules.getByRole('button', { name: 'Save rules' }).waitFor({ state: 'detached' });
    const { data } = await asPerson(page, 'GET', '/v1/assignment-rules');
    expect(data).toEqual([
      expect.objectContaining({
        name: 'Paying',
        when: { priority: 'none', attribute: { attribute: 'plan', op: 'eq', value: 'pro' } },
        then: expect.objectContaining({ add_tags: ['paying'], priority: 'high' }),
      }),
      expect.objectContaining({ name: 'Everybody', when: {} }),
    ]);
  });

  test('rules that somebody else has changed are not overwritten', async () => {
    const rules = panel('Assignment rules');
    await rules.getByLabel('Name').last().fill('The rest');
    await asPerson(page, 'PUT', '/v1/assignment-rules', { data: [] });
    await rules.getByRole('button', { name: 'Save rules' }).click();
    await rules.getByText('Somebody else has changed this').waitFor();
    expect((await asPerson(page, 'GET', '/v1/assignment-rules')).data).toEqual([]);
    await expectNoViolations(dashboard.person);
  });

  test('saving rules shows how many waiting conversations they match, and asks; only who may answer is offered', async () => {
    const { link } = await asPerson(page, 'POST', '/v1/members', { email: 'rita@acme.example', role: 'analyst' });
    await using rita = await openPage(dashboard.browser);
    await join(rita.page, link, 'Rita');
    for (const identity of ['a', 'b'])
      await asPerson(page, 'POST', '/v1/conversations', { identity, message: 'Hello' });
    await dashboard.open(pathTo('inboxSettings'));
    const rules = panel('Assignment rules');
    const saved = async () => (await asPerson(page, 'GET', '/v1/assignment-rules')).data.length;
    const unassigned = async () =>
      (await asPerson(page, 'GET', '/v1/conversations?assignee=none&status=open')).data.length;
    const question = page.getByRole('alertdialog').or(page.getByRole('dialog'));
    await rules.getByRole('button', { name: 'Add rule' }).click();
    await page.keyboard.type('Everybody');
    expect(await rules.getByLabel('Rita').count()).toBe(0);
    await rules.getByLabel('Linus').check();
    await rules.getByRole('button', { name: 'Save rules' }).click();
    await question.getByText('2 open conversations without an assignee match these rules.').waitFor();
    await expectNoViolations(dashboard.person);
    await page.keyboard.press('Escape');
    expect(await saved()).toBe(0);
    await rules.getByRole('button', { name: 'Save rules' }).click();
    await question.getByRole('button', { name: 'New ones only' }).click();
    await rules.getByRole('button', { name: 'Save rules' }).waitFor({ state: 'detached' });
    expect([await saved(), await unassigned()]).toEqual([1, 2]);
    await rules.getByLabel('Linus').uncheck();
    await rules.getByLabel('Ada').check();
    await rules.getByRole('button', { name: 'Save rules' }).click();
    await question.getByRole('button', { name: 'Waiting and new ones' }).click();
    await waitFor(async () => (await unassigned()) === 0);
    const { data } = await asPerson(page, 'GET', '/v1/members');
    const { id } = data.find(({ role }: { role: string }) => role === 'analyst');
    await asPerson(page, 'DELETE', `/v1/members/${id}`);
  });

  test('capacity is a matter of admins, and availability also of oneself', async () => {
    await dashboard.open(pathTo('members'));
    await page.getByLabel('Capacity of Linus').fill('5');
    await page.keyboard.press('Enter');
    const linus = async () =>
      (await asPerson(page, 'GET', '/v1/members')).data.find(({ name }: { name: string }) => name === 'Linus');
    await waitFor(async () => (await linus()).capacity === 5);
    await page.getByLabel('Availability of Linus').selectOption('Away');
    await waitFor(async () => (await linus()).availability === 'away');
    await expectNoViolations(dashboard.person);
    await page.getByRole('complementary').getByLabel('Your availability').selectOption('Away');
    await waitFor(async () =>
      (await asPerson(page, 'GET', '/v1/members')).data.every(
        ({ availability }: { availability: string }) => availability === 'away',
      ),
    );
  });
});
