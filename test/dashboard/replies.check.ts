import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, openPage, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { runCommand } from '../support/process.ts';
import { asPerson, join, PASSWORD, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

/** Texts and changes in the inbox survive whatever happens around them. */
describe.runIf(hasBrowser())('in the inbox', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let ada: Watched;
  let linus: Watched;
  let page: Page;
  let first = '';
  let second = '';
  const composer = (of = page) => of.getByRole('textbox', { name: /^(Reply to the user|Internal note)$/ });
  const messages = (of = page) => of.getByRole('list', { name: 'Messages' });
  const thread = (of = page) => of.getByRole('region', { name: 'Conversation', exact: true });
  const openConversation = (id: string, of = page) => dashboard.open(pathTo('conversation', { id }), of);
  const draftIs = (text: string, of = page) => waitFor(async () => (await composer(of).inputValue()) === text);
  const stored = (id: string) => asPerson(page, 'GET', `/v1/conversations/${id}`);
  const bodies = async (id: string): Promise<string[]> =>
    (await asPerson(page, 'GET', `/v1/conversations/${id}/messages?limit=100`)).data.map(
      ({ body }: { body: string }) => body,
    );
  const start = async (identity: string, message = 'Hello'): Promise<string> =>
    (await asPerson(page, 'POST', '/v1/conversations', { identity, message })).id;

  const openedByRow = async (name: string) => {
    const row = page.getByRole('row', { name, exact: true });
    await row.waitFor();
    await row.click();
    await thread().getByRole('link', { name }).waitFor();
  };

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ person: ada, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
    const { link } = await asPerson(page, 'POST', '/v1/members', { email: 'linus@acme.example', role: 'agent' });
    linus = await openPage(dashboard.browser);
    await join(linus.page, link, 'Linus');
    first = await start('ux|1');
    second = await start('ux|2');
  }, 300_000);
  afterAll(async () => {
    await linus?.context.close();
    await dashboard?.[Symbol.asyncDispose]();
  });

  test('a draft survives another conversation, a reload and the end of the session', async () => {
    await openConversation(first);
    await composer().fill('Half a sentence');
    await page.getByRole('row', { name: 'ux|2', exact: true }).click();
    await thread().getByRole('link', { name: 'ux|2' }).waitFor();
    expect(await composer().inputValue()).toBe('');
    await page.getByRole('button', { name: 'Note', exact: true }).click();
    await composer().fill('A note');
    await page.goBack();
    await draftIs('Half a sentence');
    await page.reload();
    await draftIs('Half a sentence');
    await dashboard.installation.database.query(
      "delete from sessions where account_id in (select id from accounts where email = 'ada@acme.example')",
    );
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    await page.getByLabel('Email').fill('ada@acme.example');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await draftIs('Half a sentence');
    await openConversation(second);
    await draftIs('A note');
    expect(await page.getByRole('textbox', { name: 'Internal note' }).count()).toBe(1);
  });

  test('a draft belongs to its member, and survives a change of tenant', async () => {
    const command = async (args: string[], input = '') =>
      JSON.parse((await runCommand(args, dashboard.installation.environment, input)).stdout);
    const tenant = await command(['tenant', 'create', '--name', 'Second']);
    await command(
      ['member', 'create', '--tenant', tenant.id, '--email', 'ada@acme.example', '--role', 'owner'],
      PASSWORD,
    );
    await openConversation(first);
    await page.reload();
    await page.getByRole('combobox', { name: 'Tenant', exact: true }).selectOption({ label: 'Second' });
    await waitFor(async () => page.url().includes(tenant.id));
    await page.goBack();
    await draftIs('Half a sentence');
    await openConversation(first, linus.page);
    expect(await composer(linus.page).inputValue()).toBe('');
    await page.keyboard.press('Escape');
    await composer().focus();
    await page.keyboard.press('Control+Enter');
    await messages().getByText('Half a sentence', { exact: true }).waitFor();
    await draftIs('');
    await page.reload();
    await messages().getByText('Half a sentence', { exact: true }).waitFor();
    expect(await composer().inputValue()).toBe('');
    await dashboard.open(pathTo('home'), page);
  });

  test('tags that are typed quickly are all stored', async () => {
    await openConversation(second);
    await thread().getByLabel('Add tag').focus();
    for (const tag of ['one', 'two', 'three']) await page.keyboard.type(`${tag}\n`);
    await waitFor(async () => (await stored(second)).tags.length === 3);
    expect((await stored(second)).tags).toEqual(['one', 'two', 'three']);
    await thread().getByRole('button', { name: 'Remove tag two' }).click();
    await waitFor(async () => (await stored(second)).tags.join() === 'one,three');
  });

  test('Resolve opens the next conversation, and Undo takes it back', async () => {
    const [newest, next] = [await start('ux|next'), await start('ux|newest')].toReversed() as [string, string];
    await openConversation(newest);
    await page.getByRole('row', { name: 'ux|next', exact: true }).waitFor();
    await thread().getByRole('button', { name: 'Resolve' }).click();
    await thread().getByRole('link', { name: 'ux|next' }).waitFor();
    expect(page.url()).toContain(next);
    expect((await stored(newest)).status).toBe('resolved');
    await expectNoViolations(ada);
    await page.getByRole('button', { name: 'Undo' }).click();
    await thread().getByRole('link', { name: 'ux|newest' }).waitFor();
    expect((await stored(newest)).status).toBe('open');
    await messages().getByText('Ada reopened the conversation').waitFor();
  });

  test('web addresses are links, and nothing else is', async () => {
    const text = 'See https://a.example/x. javascript:alert(1) <img src=x onerror=alert(1)> שלום';
    const id = await start('ux|links', text);
    await openConversation(id);
    await messages().getByText('javascript:alert(1) <img src=x onerror=alert(1)>').waitFor();
    const link = messages().getByRole('link');
    expect(await link.count()).toBe(1);
    expect(await link.getAttribute('href')).toBe('https://a.example/x');
    expect(await link.getAttribute('rel')).toContain('noopener');
    expect(await messages().locator('img').count()).toBe(0);
    expect(await messages().locator('[dir=auto]').count()).toBeGreaterThan(0);
    await expectNoViolations(ada);
  });

  test('rows show assignee, waiting time and tags, and the panel what the user answered', async () => {
    const question = await asPerson(page, 'POST', '/v1/questions', {
      type: 'single_choice',
      title: 'Which plan?',
      config: {
        options: [
          { id: 'a', label: 'Team plan' },
          { id: 'b', label: 'Solo plan' },
        ],
      },
    });
    await asPerson(page, 'POST', `/v1/questions/${question.id}/publish`);
    const key = await asPerson(page, 'POST', '/v1/api-keys', { name: 'server', kind: 'server' });
    const reply = await fetch(`${dashboard.installation.baseUrl}/v1/answers`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key.api_key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        answers: [
          {
            id: crypto.randomUUID(),
            identity: 'ux|2',
            question_id: question.id,
            question_version: 1,
            revision: 1,
            state: 'completed',
            values: { main: { option_id: 'a' } },
          },
        ],
      }),
    });
    expect(reply.status).toBe(202);
    await waitFor(async () => (await asPerson(page, 'GET', '/v1/answers')).data.length === 1);
    await dashboard.installation.database.query(
      "update conversations set waiting_since = now() - interval '3 hours' where identity = 'ux|2'",
    );
    await openConversation(second);
    const row = page.getByRole('row', { name: 'ux|2', exact: true });
    await row.getByText('#one #three').waitFor();
    await row.getByText(/^Waiting 3 hrs?$/).waitFor();
    await row.getByText('Unassigned').waitFor();
    const panel = page.getByRole('complementary', { name: 'User' });
    await panel.getByText('Team plan').waitFor();
    await panel.getByRole('link', { name: 'Which plan?' }).waitFor();
    await expectNoViolations(ada);
    await page.setViewportSize({ width: 390, height: 844 });
    await panel.waitFor({ state: 'detached' });
    await expectNoViolations(ada);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('two agents on one conversation keep the changes of both, and hear of a collision', async () => {
    const id = await start('ux|both');
    for (const of of [page, linus.page]) await openConversation(id, of);
    await composer().fill('My draft');
    await Promise.all(
      [page, linus.page].map(async (of, at) => {
        await thread(of).getByLabel('Add tag').focus();
        for (const number of [1, 2, 3]) await of.keyboard.type(`tag${at}${number}\n`);
      }),
    );
    await waitFor(async () => (await stored(id)).tags.length === 6);
    await Promise.all([
      thread().getByLabel('Priority').selectOption('High'),
      thread(linus.page).getByLabel('Assignee').selectOption('Linus'),
    ]);
    await waitFor(async () => {
      const { priority, assignee_id } = await stored(id);
      return priority === 'high' && assignee_id !== null;
    });
    await messages().getByText('Linus took the conversation').waitFor();
    await page.route(`**/v1/conversations/${id}`, async route =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    ); // Ada's page does not hear of the next change
    const shownToLinus = () => thread(linus.page).getByLabel('Priority').inputValue();
    await waitFor(async () => (await shownToLinus()) === 'high');
    await thread(linus.page).getByLabel('Priority').selectOption('Urgent');
    const present = () => asPerson(linus.page, 'GET', `/v1/conversations/${id}`);
    await waitFor(async () => (await present()).priority === 'urgent');
    await page.unroute(`**/v1/conversations/${id}`);
    await thread().getByLabel('Priority').selectOption('Low');
    const changed = thread().getByRole('alert').filter({ hasText: 'Linus set the priority to Urgent' });
    await changed.waitFor();
    expect((await stored(id)).priority).toBe('urgent');
    await expectNoViolations(ada);
    await changed.getByRole('button', { name: 'Change to “Low”' }).click();
    await waitFor(async () => (await stored(id)).priority === 'low');
    await changed.waitFor({ state: 'detached' });
    await draftIs('My draft');
  });

  test('two replies at once: one is sent, the other author sees it and decides', async () => {
    const id = await start('ux|moved');
    const people = [page, linus.page];
    for (const of of people) await openConversation(id, of);
    for (const of of people) await messages(of).getByText('Hello', { exact: true }).waitFor();
    await Promise.all(people.map((of, at) => composer(of).fill(`Reply ${at}`)));
    await Promise.all(people.map(of => composer(of).press('Control+Enter')));
    const missed = (of: Page) => thread(of).getByRole('alert').filter({ hasText: 'Not sent yet' });
    await waitFor(async () => (await missed(page).count()) + (await missed(linus.page).count()) === 1);
    const late = (await missed(page).count()) === 1 ? 0 : 1;
    const [first, second] = [`Reply ${1 - late}`, `Reply ${late}`];
    const author = people[late] as Page;
    const replies = async () => (await bodies(id)).filter(body => body.startsWith('Reply'));
    await missed(author).getByText(first, { exact: true }).waitFor();
    await draftIs(second, author);
    expect(await replies()).toEqual([first]);
    await expectNoViolations(author === page ? ada : linus);
    await composer(author).press('Control+Enter'); // leads to the decision
    await missed(author).getByRole('button', { name: 'Send anyway' }).and(author.locator(':focus')).waitFor();
    expect(await replies()).toEqual([first]);
    await missed(author).getByRole('button', { name: 'Keep editing' }).click();
    await missed(author).waitFor({ state: 'detached' });
    await draftIs(second, author);
    await asPerson(people[1 - late] as Page, 'POST', `/v1/conversations/${id}/messages`, {
      body: 'A note',
      kind: 'note',
    });
    await author.route('**/v1/conversations/**', async route =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    ); // this page hears of nothing more
    await asPerson(people[1 - late] as Page, 'POST', `/v1/conversations/${id}/messages`, { body: 'Third' });
    await composer(author).press('Control+Enter');
    await missed(author).getByText('Third', { exact: true }).waitFor();
    await missed(author).getByRole('button', { name: 'Send anyway' }).click();
    await draftIs('', author);
    await author.unroute('**/v1/conversations/**');
    expect(await replies()).toEqual([first, second]);
    for (const of of people) await messages(of).getByText(second, { exact: true }).waitFor();
  });

  test('a laptop that was closed for an hour has its text and misses no message', async () => {
    const id = await start('ux|lid');
    const colleague = linus.page;
    await using context = await openPage(dashboard.browser, { storageState: await ada.context.storageState() });
    const laptop = context.page;
    await laptop.clock.install();
    await openConversation(id, laptop);
    await composer(laptop).fill('Typed before the lid was closed');
    await context.context.setOffline(true);
    await laptop.clock.fastForward('01:00:00');
    await laptop.getByText('Connection lost, retrying').waitFor();
    await composer(laptop).fill('Typed before the lid was closed, and after');
    for (let number = 1; number <= 120; number++)
      await asPerson(colleague, 'POST', `/v1/conversations/${id}/messages`, { body: `Meanwhile ${number}` });
    await context.context.setOffline(false);
    await laptop.clock.runFor(10_000);
    await messages(laptop).getByText('Meanwhile 120', { exact: true }).waitFor();
    await draftIs('Typed before the lid was closed, and after', laptop);
    await messages(laptop).hover();
    for (let turns = 0; (await messages(laptop).getByText('Hello', { exact: true }).count()) === 0; turns++) {
      expect(turns).toBeLessThan(200);
      await laptop.mouse.wheel(0, -400);
      await laptop.clock.runFor(50);
    }
    await composer(laptop).press('Control+Enter');
    await draftIs('', laptop);
    expect((await bodies(id)).length).toBe(100);
    expect((await asPerson(page, 'GET', `/v1/conversations/${id}/messages?order=desc&limit=1`)).data[0].body).toBe(
      'Typed before the lid was closed, and after',
    );
  });

  test('a response that is no message list shows the failure and a retry', async () => {
    await start('ux|proxy');
    for (const [contentType, body] of [
      ['text/html', '<html>Sign in to the Wi-Fi</html>'],
      ['application/json', '{"data": ['],
    ] as const) {
      await page.route('**/messages?*', route => route.fulfill({ status: 200, contentType, body }));
      await page.goto(`${dashboard.installation.baseUrl}/dashboard/inbox`);
      await openedByRow('ux|proxy');
      await thread().getByRole('alert').getByText('Parley could not be reached').waitFor();
      await expectNoViolations(ada);
      await page.unroute('**/messages?*');
      await thread().getByRole('button', { name: 'Try again' }).click();
      await messages().getByText('Hello', { exact: true }).waitFor();
    }
  });

  test('a restart of the API loses no text, tag or reply', async () => {
    const id = await start('ux|restart');
    await openConversation(id);
    await composer().fill('Sent during the restart');
    await dashboard.installation.stop();
    await composer().press('Control+Enter');
    await thread().getByLabel('Add tag').fill('kept');
    await page.keyboard.press('Enter');
    await page.getByText('Connection lost, retrying').waitFor();
    expect(await composer().inputValue()).toBe('Sent during the restart');
    await dashboard.installation.startAgain();
    const send = page.getByRole('button', { name: 'Send reply' });
    await waitFor(async () => {
      if ((await messages().getByText('Sent during the restart', { exact: true }).count()) > 0) return true;
      if (await send.isEnabled()) await send.click().catch(() => undefined);
      return false;
    }, 300_000);
    await draftIs('');
    await waitFor(async () => (await stored(id)).tags.includes('kept'), 60_000);
    expect((await bodies(id)).filter(body => body === 'Sent during the restart')).toHaveLength(1);
  });
});
