import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, openPage, toasted, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import type { Installation } from '../support/installation.ts';
import { runCommand } from '../support/process.ts';
import { asPerson, PASSWORD, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

/** Filters, texts and the tenant survive reloads, failures and other tabs. */
describe.runIf(hasBrowser())('what people do is kept', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let installation: Installation;
  let browser: Browser;
  let ada: Watched;
  let page: Page;
  const open = (path: string, of?: Page) => dashboard.open(path, of);
  const searchHere = (of: Page = page) => new URL(of.url()).search;

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ installation, browser, person: ada, page } = dashboard);
    await setUp(page, installation.setupLink);
    for (const title of ['How likely?', 'How was it?'])
      await asPerson(page, 'POST', '/v1/questions', { type: 'nps', title });
  }, 300_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('a failed check of the session shows a banner and keeps what was typed', async () => {
    await open(pathTo('newQuestion'));
    const question = page.getByRole('textbox', { name: 'Question', exact: true });
    await question.fill('Half a question');
    await page.route('**/v1/me', route =>
      route.fulfill({ status: 502, contentType: 'text/html', body: 'Bad gateway' }),
    );
    await page.route('**/v1/conversations/unread-count*', route => route.abort());
    const banner = page.getByText('Connection lost, retrying');
    await banner.waitFor();
    expect(await question.inputValue()).toBe('Half a question');
    expect(await page.getByText('not a member').count()).toBe(0);
    await expectNoViolations(ada);
    await page.waitForResponse(reply => reply.url().endsWith('/v1/me') && reply.status() === 502);
    await page.unroute('**/v1/me');
    await page.unroute('**/v1/conversations/unread-count*');
    await banner.waitFor({ state: 'detached' });
    expect(await question.inputValue()).toBe('Half a question');
  });

  test.each([
    ['a redirect to another host', { status: 302, headers: { Location: 'https://sign-in.example/' } }],
    ['401 with a page', { status: 401, contentType: 'text/html', body: '<html>Sign in</html>' }],
  ])('the sign-in of a proxy, %s, is named, and ends neither the session nor what was typed', async (_, reply) => {
    await open(pathTo('newQuestion'));
    const question = page.getByRole('textbox', { name: 'Question', exact: true });
    await question.fill('Half a question');
    await page.route('**/v1/**', route => route.fulfill(reply));
    const banner = page.getByText('Something else replies instead of Parley', { exact: false });
    await banner.waitFor();
    const tab = page.waitForEvent('popup');
    await page.getByRole('link', { name: 'Open it in a new tab' }).click();
    await (await tab).getByRole('heading', { level: 1 }).waitFor(); // the sign-in page of the proxy would be here
    await (await tab).close();
    await page.unroute('**/v1/**');
    await banner.waitFor({ state: 'detached' });
    expect(await question.inputValue()).toBe('Half a question');
  });

  test('filters are in the address: reload, Back and a link keep them', async () => {
    await open(pathTo('questions'));
    await page.getByLabel('Search by name or title').fill('likely');
    await page.getByLabel('Status').selectOption('draft');
    await waitFor(async () => searchHere() === '?status=draft&q=likely');
    await page.getByRole('link', { name: 'How was it?' }).waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('link', { name: 'How likely?' }).click();
    await page.getByRole('heading', { level: 1, name: 'How likely?' }).waitFor();
    await page.goBack();
    expect(await page.getByLabel('Search by name or title').inputValue()).toBe('likely');
    expect(await page.getByLabel('Status').inputValue()).toBe('draft');
    await using colleague = await openPage(browser, { storageState: await ada.context.storageState() });
    await colleague.page.goto(page.url());
    await colleague.page.getByRole('link', { name: 'How likely?' }).waitFor();
    expect(await colleague.page.getByRole('link', { name: 'How was it?' }).count()).toBe(0);
  });

  test('opening a conversation keeps the filters of the inbox', async () => {
    const { id } = await asPerson(page, 'POST', '/v1/conversations', { identity: 'ux|1', message: 'Hello' });
    await asPerson(page, 'PATCH', `/v1/conversations/${id}`, { tags: ['billing'], status: 'resolved' });
    await open(pathTo('inbox'));
    await page.getByLabel('Status').selectOption('resolved');
    await page.getByRole('row', { name: /ux\|1/ }).click();
    await page.getByRole('list', { name: 'Messages' }).getByText('Hello').waitFor();
    expect(searchHere()).toContain('status=resolved');
    await page.reload();
    await page.getByRole('list', { name: 'Messages' }).getByText('Hello').waitFor();
    expect(await page.getByLabel('Status').first().inputValue()).toBe('resolved');
  });

  test('filters of results and comments survive a reload', async () => {
    const { data } = await asPerson(page, 'GET', '/v1/questions');
    await open(pathTo('questionResults', { id: data[0].id }));
    await page.getByLabel('Time range').selectOption('quarter');
    await page.getByLabel('Search comments').fill('late');
    await waitFor(async () => searchHere() === '?span=quarter&q=late');
    await page.reload();
    await page.getByLabel('Time range').waitFor();
    expect(await page.getByLabel('Time range').inputValue()).toBe('quarter');
    expect(await page.getByLabel('Search comments').inputValue()).toBe('late');
  });

  test('a typed search is sent once typing pauses', async () => {
    await open(pathTo('questions'));
    const searched: string[] = [];
    page.on('request', request => {
      const words = new URL(request.url()).searchParams.get('q');
      if (words) searched.push(words);
    });
    await page.getByLabel('Search by name or title').pressSequentially('likely', { delay: 40 });
    await waitFor(async () => searched.includes('likely'));
    expect(new Set(searched)).toEqual(new Set(['likely']));
    page.removeAllListeners('request');
  });

  test('two tabs with two tenants write to their own', async () => {
    const command = async (args: string[], input = '') =>
      JSON.parse((await runCommand(args, installation.environment, input)).stdout);
    const { id } = await command(['tenant', 'create', '--name', 'Second']);
    const member = ['--tenant', id, '--email', 'ada@acme.example', '--role', 'owner'];
    await command(['member', 'create', ...member], PASSWORD);
    await open(pathTo('home'));
    const first = new URL(page.url()).pathname.split('/')[3];
    const tab = await ada.context.newPage();
    await open(pathTo('home'), tab);
    await tab.getByRole('combobox', { name: 'Tenant', exact: true }).selectOption({ label: 'Second' });
    await waitFor(async () => new URL(tab.url()).pathname.split('/')[3] !== first);
    const second = new URL(tab.url()).pathname.split('/')[3];
    await page.getByRole('link', { name: 'Questions' }).click();
    await page.getByRole('link', { name: 'New question' }).click();
    await page.getByRole('textbox', { name: 'Question', exact: true }).fill('For the first tenant');
    const created = page.waitForRequest(request => request.method() === 'POST');
    await page.getByRole('button', { name: 'Save draft' }).click();
    expect((await created).headers()['tenant-id']).toBe(first);
    await page.getByRole('heading', { level: 1, name: 'For the first tenant' }).waitFor();
    await tab.goto(`${installation.baseUrl}/dashboard/t/${second}/questions`);
    await tab.getByText('No questions yet').waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'For the first tenant' }).waitFor();
    await tab.close();
  });

  test('earlier addresses lead to the same page', async () => {
    const { data } = await asPerson(page, 'GET', '/v1/questions');
    const pages: [string, RegExp][] = [
      ['/', /\/t\/tenant_\w+\/home$/],
      [`/questions/${data[0].id}`, /\/t\/tenant_\w+\/questions\/question_\w+\/build$/],
      ['/questions?status=live', /\/t\/tenant_\w+\/questions\?status=live$/],
      ['/ingestion', /\/t\/tenant_\w+\/data$/],
      ['/settings', /\/t\/tenant_\w+\/settings\/general$/],
      ['/settings/security', /\/dashboard\/me$/],
      ['/people/a%2Fb%3F', /\/people\/a%2Fb%3F$/],
    ];
    for (const [path, address] of pages) {
      await open(path);
      expect(page.url()).toMatch(address);
    }
    await page.getByRole('heading', { level: 1, name: 'a/b?' }).waitFor();
  });

  test('a mistyped address and a foreign tenant show a page with a way back', async () => {
    for (const path of ['/qestions', '/t/x/y/z/1', '/questions/a/b/c/d']) {
      const reply = await page.goto(`${installation.baseUrl}/dashboard${path}`);
      expect(reply?.status()).toBe(404);
      await page.getByRole('heading', { level: 1 }).waitFor();
    }
    await page.getByRole('link', { name: 'Go to the home page' }).click();
    await page.getByRole('heading', { level: 1, name: 'Getting started' }).waitFor();
    await open('/t/tenant_01h455vb4pex5vsknk084sn02q/questions');
    await page.getByRole('heading', { level: 1, name: 'You are not a member of this tenant' }).waitFor();
    await page.getByRole('link', { name: 'Acme' }).click();
    await page.getByRole('heading', { level: 1, name: 'Getting started' }).waitFor();
    await expectNoViolations(ada);
  });

  test('a truncated response or the page of a proxy shows a message and a retry', async () => {
    const bodies = ['{"data": [', '<html>Sign in to the Wi-Fi</html>'];
    for (const [at, body] of bodies.entries()) {
      const contentType = at === 0 ? 'application/json' : 'text/html';
      await page.route('**/v1/questions?*', route => route.fulfill({ status: 200, contentType, body }));
      await page.goto(`${installation.baseUrl}/dashboard/questions`);
      await page.getByRole('alert').getByText('Parley could not be reached').waitFor();
      await page.unroute('**/v1/questions?*');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('link', { name: 'How likely?' }).waitFor();
    }
  });

  test('a restart of the API and a laptop closed for an hour lose nothing typed in forms', async () => {
    const NAME = 'Acme, typed before';
    const storageState = await ada.context.storageState();
    await using context = await openPage(browser, { storageState });
    const tab = async (path: string, prepare: (of: Page) => Promise<unknown>): Promise<Page> => {
      const opened = await context.context.newPage();
      await opened.clock.install();
      await open(path, opened);
      await prepare(opened);
      return opened;
    };
    const title = (of: Page) => of.getByRole('textbox', { name: 'Question', exact: true });
    const name = (of: Page) => of.getByLabel('Name', { exact: true });
    const email = (of: Page) => of.getByRole('dialog').getByLabel('Email');
    const editor = await tab(pathTo('newQuestion'), of => title(of).fill('Typed before'));
    const settings = await tab(pathTo('general'), of => name(of).fill(NAME));
    const members = await tab(pathTo('members'), async of => {
      await of.getByRole('button', { name: 'Invite member' }).click();
      await email(of).fill('linus@acme.example');
    });
    const tabs = [editor, settings, members];
    const areKept = async () => {
      expect(await title(editor).inputValue()).toBe('Typed before');
      expect(await name(settings).inputValue()).toBe(NAME);
      expect(await email(members).inputValue()).toBe('linus@acme.example');
    };

    await context.context.setOffline(true);
    for (const each of tabs) await each.clock.fastForward('01:00:00');
    await asPerson(page, 'PATCH', '/v1/tenant', { cooldown_days: 9 }); // by a colleague meanwhile
    await context.context.setOffline(false);
    for (const each of tabs) await each.clock.runFor(10_000);
    await waitFor(async () => (await settings.getByLabel('Days between questions').inputValue()) === '9', 30_000);
    await areKept();
    await settings.route('**/v1/tenant', route =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    await asPerson(page, 'PATCH', '/v1/tenant', { cooldown_days: 10 }); // just before the settings are saved
    await settings.getByRole('button', { name: 'Save changes', exact: true }).first().click();
    await settings.getByText('Somebody else has changed this', { exact: true }).waitFor();
    await settings.unroute('**/v1/tenant');
    await waitFor(async () => (await settings.getByLabel('Days between questions').inputValue()) === '10', 30_000);
    await areKept();

    const save = async (of: Page, button: string) =>
      of.getByRole('button', { name: button, exact: true }).first().click();
    const saveAll = async () => {
      await save(editor, 'Save draft');
      await save(settings, 'Save changes');
      await save(members, 'Invite');
    };
    await installation.stop();
    await saveAll();
    for (const each of tabs) await each.getByRole('alert').getByText('Parley could not be reached').waitFor();
    await areKept();
    await installation.startAgain();
    await saveAll();
    await editor.getByRole('heading', { level: 1, name: 'Typed before' }).waitFor();
    await toasted(settings, 'Saved');
    await members.getByText('Send this link to the new member.', { exact: false }).waitFor();
    expect(await asPerson(page, 'GET', '/v1/tenant')).toMatchObject({ name: NAME, cooldown_days: 10 });
    expect((await asPerson(page, 'GET', '/v1/members/invitations')).data).toHaveLength(1);
  });
});
