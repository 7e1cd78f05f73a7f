import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, expectNoViolationsOn, openPage, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { expireEvents } from '../support/events.ts';
import { asPerson, join, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';
import { LOCAL_WEBHOOKS } from '../support/webhooks.ts';

describe.runIf(hasBrowser())('webhooks and events in the dashboard', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let ada: Watched;
  let page: Page;
  let receiver: Server;
  let url: string;
  let webhookId: string;
  const received: string[] = [];
  /** Responses with an error since a test emptied the list. */
  const refused: string[] = [];
  const open = (path: string, of?: Page) => dashboard.open(path, of);
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = () => page.getByRole('dialog');
  const webhook = () => asPerson(page, 'GET', `/v1/webhooks/${webhookId}`);

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      request.resume().on('end', () => {
        received.push(String(request.headers['webhook-id']));
        response.writeHead(202).end('thank you');
      });
    });
    await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/parley`;
    dashboard = await openDashboard(LOCAL_WEBHOOKS);
    ({ person: ada, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
    page.on('response', (reply: Response) => {
      if (reply.status() >= 400) refused.push(`${reply.status()} ${reply.url()}`);
    });
  }, 300_000);
  afterAll(async () => {
    await dashboard?.[Symbol.asyncDispose]();
    receiver.close();
  });

  /** Reads the secret from the dialog that shows it once, and closes it. */
  async function takeSecret(): Promise<string> {
    await dialog().getByText('Copy these values now.', { exact: false }).waitFor();
    await expectNoViolations(ada);
    const [secret = ''] = await dialog().locator('code').allTextContents();
    await page.keyboard.press('Escape');
    await dialog().getByRole('button', { name: 'Done' }).click();
    await dialog().getByRole('alert').getByText('You have not copied the secret.', { exact: false }).waitFor();
    await dialog().getByRole('button', { name: 'Copy Secret' }).last().click();
    await dialog().getByRole('button', { name: 'Done' }).click();
    await dialog().waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(secret);
    return secret;
  }

  test('a webhook is created with the keyboard only, and its secret is shown once', async () => {
    await open(pathTo('webhooks'));
    await page.getByText('No webhooks yet').waitFor();
    await button('Create webhook').first().focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('URL').waitFor();
    await page.keyboard.type('http://example.com:81/');
    await page.keyboard.press('Enter');
    await page.locator('[aria-invalid=true]').waitFor();
    await expectNoViolations(ada);
    await page.getByLabel('URL').fill(url);
    await page.keyboard.press('Tab');
    await page.keyboard.type('CRM');
    await page.keyboard.press('Enter');
    expect(await takeSecret()).toMatch(/^whsec_[\w+/]{32,}=*$/);
    const row = page.getByRole('row').filter({ hasText: url });
    await row.getByText('Enabled').waitFor();
    await row.getByText('Up to date').waitFor();
    await row.getByText('All events').waitFor();
    await row.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: url }).waitFor();
    webhookId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    expect(await webhook()).toMatchObject({ url, description: 'CRM', payload: 'full', ordered: false });
    expect((await webhook()).event_types.length).toBeGreaterThan(15);
  });

  test('types of events are selected, and at least one is required', async () => {
    await button('Edit').click();
    await page.getByLabel('Selected events').check();
    for (const type of (await webhook()).event_types) await page.getByLabel(type, { exact: true }).uncheck();
    await button('Save changes').click();
    await page.getByText('Select at least one event.').waitFor();
    await expectNoViolations(ada);
    await page.getByLabel('question.published', { exact: true }).check();
    await page.getByLabel('Link only').check();
    await page.getByLabel('In strict order').check();
    await button('Save changes').click();
    await dialog().waitFor({ state: 'detached' });
    expect(await webhook()).toMatchObject({ event_types: ['question.published'], payload: 'thin', ordered: true });
    await page.getByText('Link only').waitFor();
  });

  test('the secret is rotated with a grace period', async () => {
    await button('Rotate secret').click();
    await page.getByLabel('Grace period (hours)').fill('1');
    await expectNoViolations(ada);
    await dialog().getByRole('button', { name: 'Rotate' }).click();
    await takeSecret();
    await page.getByText('Requests are also signed with the previous secret until', { exact: false }).waitFor();
  });

  test('a test is delivered, shows request and response, and is sent again under its id', async () => {
    await button('Send test').click();
    const row = page.getByRole('row').filter({ hasText: 'webhook.test' });
    await row.first().getByText('Delivered').waitFor();
    await row.first().getByText('Request and response').click();
    await row.first().getByText(`POST ${url}`).waitFor();
    await row.first().getByText('thank you').waitFor();
    await expectNoViolations(ada);
    await row.first().getByRole('button', { name: 'Send again' }).click();
    await waitFor(() => received.length === 2);
    expect(new Set(received).size).toBe(1);
    await page.getByLabel('Status').selectOption('failed');
    await page.getByText('No matching deliveries').waitFor();
    await page.getByLabel('Status').selectOption('');
    await row.first().waitFor();
  });

  test('the events of a period are sent again', async () => {
    await button('Replay a period').click();
    await dialog().getByLabel('From').fill('2026-01-01T00:00');
    await expectNoViolations(ada);
    await dialog().getByRole('button', { name: 'Send again' }).click();
    await page.getByText(/\d+ events? (is|are) sent again\./).waitFor();
  });

  test('it is disabled and enabled again, where it stood or from now', async () => {
    await button('Disable').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Disabled by your team.').waitFor();
    expect(await button('Send test').count()).toBe(0);
    await button('Enable').click();
    await page.getByLabel('Only new ones').check();
    await expectNoViolations(ada);
    await dialog().getByRole('button', { name: 'Enable' }).click();
    await page.getByText('Webhook enabled.').waitFor();
    expect(await webhook()).toMatchObject({ status: 'enabled', disabled_reason: null });
  });

  test('events are listed, the newest first or from a number, and show their object', async () => {
    const { id } = await asPerson(page, 'POST', '/v1/questions', { type: 'nps', title: 'How likely?' });
    await asPerson(page, 'POST', `/v1/questions/${id}/publish`);
    await waitFor(async () => {
      const { data } = await asPerson(page, 'GET', '/v1/events');
      return data.some((event: { type: string }) => event.type === 'question.published');
    });
    refused.length = 0;
    await open(pathTo('events'));
    const rows = page.getByRole('row').filter({ has: page.getByRole('cell') });
    const newest = rows.filter({ hasText: 'question.published' }).first();
    await newest.getByText('Show content').click();
    await newest.getByText('"title": "How likely?"', { exact: false }).waitFor();
    await expectNoViolations(ada);
    expect(refused).toEqual([]);
    await page.getByLabel('From no.').fill('12345678901234');
    await page.getByText('No matching events').waitFor();
    refused.length = 0;
    await page.getByLabel('From no.').fill('1');
    await waitFor(async () => (await rows.first().getByRole('cell').first().textContent()) === '1');
    await page.getByLabel('Event', { exact: true }).selectOption('api_key.revoked');
    await page.getByText('No matching events').waitFor();
    await page.getByLabel('Event', { exact: true }).selectOption('question.published');
    await page.getByRole('link', { name: id }).first().click();
    await page.getByRole('heading', { level: 1, name: 'How likely?' }).waitFor();
    expect(refused).toEqual([]);
  });

  test('a rare event is found behind many newer ones', async () => {
    const change = (at: number) => asPerson(page, 'PUT', '/v1/identities/ux%7Cmany', { attributes: { orders: at } });
    for (let at = 0; at < 120; at += 1) await change(at);
    await waitFor(async () => {
      const { data } = await asPerson(page, 'GET', '/v1/events?types=identity.updated&limit=100&after=20');
      return data.length === 100;
    });
    await open(`${pathTo('events')}?type=question.published`);
    await page.getByRole('cell', { name: 'question.published' }).first().waitFor();
  });

  test('the oldest events that are kept are the last ones of the list, without an error', async () => {
    const { database } = dashboard.installation;
    const [feed] = await database.query<{ tenant: string }>('select distinct tenant_id as tenant from event_batches');
    await expireEvents(database, feed?.tenant ?? '', 100);
    const { oldest, newest } = await asPerson(page, 'GET', '/v1/events?limit=1');
    expect(oldest).toBe(101);
    refused.length = 0;
    await open(pathTo('events'));
    const numbers = page.getByRole('row').getByRole('cell', { name: /^\d+$/ });
    await numbers.getByText(String(oldest), { exact: true }).waitFor();
    expect(await numbers.count()).toBe(newest - oldest + 1);
    expect(refused).toEqual([]);
  });

  test('a delivery of an event that is no longer kept says so', async () => {
    await open(pathTo('webhook', { id: webhookId }));
    const row = page.getByRole('row').filter({ hasText: 'question.published' });
    await row.first().getByText('Request and response').click();
    await row.first().getByText('The event is no longer kept.').waitFor();
  });

  test('the pages pass the checks at every width', { timeout: 240_000 }, async () => {
    await expectNoViolationsOn(ada, [pathTo('webhooks'), pathTo('webhook', { id: webhookId }), pathTo('events')], open);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('an analyst sees events, and no webhooks', async () => {
    await using other = await openPage(dashboard.browser);
    const invitation = { email: 'nora@acme.example', role: 'analyst' };
    await join(other.page, (await asPerson(page, 'POST', '/v1/members', invitation)).link, 'Nora');
    await open(pathTo('events'), other.page);
    await other.page.getByRole('table', { name: 'Events' }).waitFor();
    expect(await other.page.getByRole('link', { name: 'Webhooks' }).count()).toBe(0);
    await expectNoViolations(other);
  });

  test('it is deleted', async () => {
    await open(pathTo('webhook', { id: webhookId }));
    await button('Delete').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No webhooks yet').waitFor();
    await expectNoViolations(ada);
  });
});
