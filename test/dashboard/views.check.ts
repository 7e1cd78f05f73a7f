import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, openPage } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { seedConversations } from '../support/conversations-seed.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { asPerson, join, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

/** More than are counted. */
const MANY = 1100;

const CHANGES = [
  `update conversations set tags = '{vip}', priority = 'high' where identity in ('user|3', 'user|4', 'user|5')`,
  `update conversations set waiting_since = created_at, reply_due_at = now() - interval '1 hour' where identity = 'user|4'`,
  `update conversations set waiting_since = created_at, reply_due_at = now() + interval '2 hours' where identity = 'user|6'`,
];

describe.runIf(hasBrowser())('views of the inbox', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let page: Page;
  const views = (of = page) => of.getByRole('navigation', { name: 'Views' });
  const view = (name: string, of = page) => views(of).getByRole('link', { name, exact: true });
  const list = () => page.getByRole('grid', { name: 'Conversations' });
  const rows = () => list().getByRole('row');
  const shows = (count: number) => waitFor(async () => (await rows().count()) === count);
  const filters = () => page.getByRole('region', { name: 'Conversations', exact: true });

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
    const { database } = dashboard.installation;
    await database.query(seedConversations(), [MANY]);
    for (const change of CHANGES) await database.query(change);
  }, 300_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('every view has its number of conversations, which one request counts', async () => {
    const asked: string[] = [];
    page.on('request', request => asked.push(new URL(request.url()).pathname));
    await dashboard.open(pathTo('inbox'));
    await view('All 1,000+').waitFor();
    await view('Unassigned 1,000+').waitFor();
    await view('Mine 0').waitFor();
    await view('Mentions 0').waitFor();
    expect(asked.filter(path => path === '/v1/conversations/counts')).toHaveLength(1);
    await expectNoViolations(dashboard.person);
    await view('Mine 0').click();
    await page.getByText('No matching conversations').waitFor();
    await view('All 1,000+').click();
    await rows().first().waitFor();
  });

  test('rows show when a reply is due, and the list can be ordered and filtered by it', async () => {
    await filters().getByLabel('Order').selectOption('Due replies only, soonest first');
    await waitFor(async () => /user\|4.*Overdue/s.test((await rows().first().textContent()) ?? ''));
    expect(await rows().nth(1).textContent()).toMatch(/user\|6.*Due in/s);
    await filters().getByRole('button', { name: 'More filters' }).click();
    await filters().getByLabel('Overdue').check();
    await shows(1);
    await expectNoViolations(dashboard.person);
    await page.reload(); // the filters are in the address
    await shows(1);
    await filters().getByRole('button', { name: 'Reset', exact: true }).click();
    await waitFor(async () => (await rows().count()) > 5);
  });

  test('filters are saved as a view, which is changed, renamed and shared', async () => {
    await filters().getByLabel('Tag', { exact: true }).fill('vip');
    await filters().getByLabel('Priority').selectOption('High');
    await shows(3);
    await filters().getByRole('button', { name: 'Save as view' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('VIPs');
    await expectNoViolations(dashboard.person);
    await page.keyboard.press('Enter');
    await view('VIPs 3').waitFor();
    expect(new URL(page.url()).search).toBe(''); // the view has the filters
    await shows(3);

    await filters().getByLabel('Overdue').check();
    await shows(1);
    await filters().getByRole('button', { name: 'Save changes' }).click();
    await view('VIPs 1').waitFor();
    expect(new URL(page.url()).search).toBe('');
    await filters().getByRole('button', { name: 'Edit view' }).click();
    await page.getByRole('menuitem', { name: 'Rename or share …' }).click();
    await dialog.getByLabel('Name').fill('Late VIPs');
    await dialog.getByLabel('Share with the team').check();
    await page.keyboard.press('Enter');
    await view('Late VIPs 1').waitFor();
    await view('All 1,000+').click();
    await view('Late VIPs 1').click();
    await shows(1);
    await rows().first().click();
    await page.getByRole('region', { name: 'Conversation', exact: true }).waitFor();
    await page.reload();
    await shows(1);
    const { data } = await asPerson(page, 'GET', '/v1/views');
    expect(data).toEqual([
      expect.objectContaining({
        name: 'Late VIPs',
        shared: true,
        filter: { status: 'open', tag: 'vip', priority: 'high', overdue: true },
      }),
    ]);
  });

  test('a shared view is in the inbox of others, and gone once it is deleted', async () => {
    const { link } = await asPerson(page, 'POST', '/v1/members', { email: 'linus@acme.example', role: 'agent' });
    await using linus = await openPage(dashboard.browser);
    await join(linus.page, link, 'Linus');
    await dashboard.open(pathTo('inbox'), linus.page);
    await view('Late VIPs 1', linus.page).click();
    await filters().getByRole('button', { name: 'Edit view' }).click();
    await page.getByRole('menuitem', { name: 'Delete …' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete view' }).click();
    await waitFor(async () => (await view('Late VIPs 1').count()) === 0);
    await linus.page.reload();
    await view('All 1,000+', linus.page).and(linus.page.locator('[aria-current=page]')).waitFor();
    expect(await view('Late VIPs 1', linus.page).count()).toBe(0);
  });
});
