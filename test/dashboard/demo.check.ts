import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, panel, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { asPerson, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

describe.runIf(hasBrowser())('demo data', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let ada: Watched;
  let page: Page;
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const title = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  const isDemo = () => page.getByText('This tenant has demo data.').waitFor();
  const tenants = async (): Promise<string[]> =>
    (await asPerson(page, 'GET', '/v1/me')).account.memberships.map(
      ({ tenant }: { tenant: { name: string } }) => tenant.name,
    );

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ person: ada, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
  }, 300_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('is created with one click on the first page, and removed with one on its own', async () => {
    await dashboard.open(pathTo('home'));
    const own = await tenants();
    const address = page.url();
    await expectNoViolations(ada);
    await press('Create demo data');
    await isDemo();
    expect(page.url()).not.toBe(address);
    await panel(page, 'New comments').getByRole('listitem').first().waitFor();
    await page.getByLabel('Tenant', { exact: true }).waitFor(); // one of two
    await expectNoViolations(ada);
    expect(await tenants()).toEqual([...own, 'Nordlicht Coffee (demo)'].toSorted());

    await press('Remove demo data');
    await title('Getting started');
    expect(page.url()).toBe(address);
    await page.getByRole('button', { name: 'Create demo data' }).waitFor();
    expect(await tenants()).toEqual(own);
    await expectNoViolations(ada);
  });

  test('is created, opened and removed in the settings', async () => {
    await dashboard.open(pathTo('general'));
    await press('Create demo data');
    await isDemo();
    await page.goBack();
    await title('Settings');
    await page.getByRole('link', { name: 'Open demo data' }).click();
    await isDemo();
    await page.goBack();
    await press('Remove demo data');
    await page.getByRole('button', { name: 'Create demo data' }).waitFor();
    expect(await tenants()).toHaveLength(1);
    await expectNoViolations(ada);
  });

  test('that cannot be created says why', async () => {
    await dashboard.open(pathTo('general'));
    await asPerson(page, 'POST', '/v1/demo-tenants');
    await press('Create demo data');
    await page.getByRole('status').getByText('Limit reached', { exact: false }).waitFor();
    await waitFor(async () => (await tenants()).length === 2);
  });
});
