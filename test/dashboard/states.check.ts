import { randomUUID } from 'node:crypto';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PathName, pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, openPage, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { englishOn } from '../support/english.ts';
import type { Installation } from '../support/installation.ts';
import { startProcess } from '../support/process.ts';
import { asBearer, asPerson, join, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

/** Empty, loading and error states, questions of each status, and German. */
describe.runIf(hasBrowser())('the states of the pages', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let installation: Installation;
  let browser: Browser;
  let ada: Watched;
  let page: Page;
  const open = (path: string, of?: Page) => dashboard.open(path, of);
  const pages = () => page.getByRole('navigation', { name: 'Pages' });

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ installation, browser, person: ada, page } = dashboard);
    await setUp(page, installation.setupLink);
  }, 300_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('each empty list shows its purpose and the next step', async () => {
    const { id } = await asPerson(page, 'POST', '/v1/questions', { type: 'nps', title: 'How likely?' });
    const EMPTY: [string, string[]][] = [
      [pathTo('questionVersions', { id }), ['No versions yet']],
      [pathTo('questionResults', { id }), ['No answers in this period', 'No comments']],
      [pathTo('inbox'), ['No open conversations', 'No conversation selected']],
      [pathTo('identity', { identity: 'nobody' }), ['Unknown user', 'No entries']],
      [pathTo('data'), ['No quarantined answers']],
      [pathTo('apiKeys'), ['No API keys yet']],
    ];
    for (const [path, texts] of EMPTY) {
      await open(path);
      for (const text of texts) await page.getByText(text, { exact: true }).waitFor();
      await expectNoViolations(ada);
    }
    await asPerson(page, 'DELETE', `/v1/questions/${id}`);
    await open(pathTo('questions'));
    await page.getByText('No questions yet').waitFor();
    await expectNoViolations(ada);
    await open(pathTo('inbox'));
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('Unread only').check();
    await page.getByText('No matching conversations').waitFor();
    await open(pathTo('auditLog'));
    await page.getByLabel('Action', { exact: true }).selectOption('question.archived');
    await page.getByText('No matching entries').waitFor();
    await open(pathTo('conversation', { id: 'conversation_nobody' }));
    await page.getByRole('alert').waitFor();
    await expectNoViolations(ada);
  });

  test('while the store is slow, each list shows a placeholder and then its data', async () => {
    await open(pathTo('home'));
    for (const name of ['Inbox', 'Questions', 'Data', 'Settings']) {
      installation.network.freeze();
      await pages().getByRole('link', { name }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await page.getByRole('main').getByText('Loading…').first().waitFor();
      await expectNoViolations(ada);
      installation.network.thaw();
      await waitFor(async () => (await page.getByText('Loading…').count()) === 0);
    }
  });

  /** Expects a complete problem: title, detail, request ID for the log, and a button to retry. */
  const expectProblemShown = async (alert: Locator) => {
    await alert.waitFor();
    const [title, detail] = await alert.getByRole('paragraph').allTextContents();
    expect(title).toMatch(/^The .+/);
    expect(detail).toMatch(/\w+ \w+/);
    expect(await alert.locator('code').last().textContent()).toMatch(/^[\w-]{10,}$/);
    await expectNoViolations(ada);
  };

  test('without the database each page shows the problem with its request id, and recovers', async () => {
    const mend = async () => {
      installation.network.mend();
      await waitFor(async () => (await fetch(`${installation.baseUrl}/readyz`)).ok);
    };
    await open(pathTo('questions'));
    installation.network.cut();
    await pages().getByRole('link', { name: 'Settings' }).click();
    await expectProblemShown(page.getByRole('alert').first()); // each panel shows its own problem
    await mend();
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByLabel('Name', { exact: true }).waitFor();

    await open(pathTo('newQuestion'));
    await page.getByRole('textbox', { name: 'Question', exact: true }).fill('Written once');
    installation.network.cut();
    await page.getByRole('button', { name: 'Save draft' }).click();
    await expectProblemShown(page.getByRole('alert'));
    await mend();
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByRole('heading', { level: 1, name: 'Written once' }).waitFor();

    installation.network.cut();
    await page.goto(`${installation.baseUrl}/dashboard/`);
    await expectProblemShown(page.getByRole('alert'));
    await mend();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Getting started' }).waitFor();
  });

  test('without any connection a page shows an error', async () => {
    await open(pathTo('auditLog'));
    await ada.context.setOffline(true);
    await page.getByLabel('Action', { exact: true }).selectOption('question.archived');
    await page.getByRole('alert').getByText('Parley could not be reached').waitFor();
    await expectNoViolations(ada);
    await page.getByRole('link', { name: 'Members' }).click(); // its script is not loaded yet
    await page.getByRole('heading', { level: 1, name: 'This page could not be loaded' }).waitFor();
    await expectNoViolations(ada);
    await page.goBack(); // other pages still work
    await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
    await page.getByLabel('Action', { exact: true }).selectOption('question.archived');
    await page.getByRole('alert').getByText('Parley could not be reached').waitFor();
    await ada.context.setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No matching entries').waitFor();
  });

  /** Creates data for every page. Returns the ids that the following tests need. */
  const fill = async () => {
    const key = await asPerson(page, 'POST', '/v1/api-keys', { name: 'kx-1', kind: 'server' });
    await asPerson(page, 'POST', '/v1/api-keys', {
      name: 'kx-2',
      kind: 'public',
      allowed_origins: ['https://x.example'],
    });
    const { link } = await asPerson(page, 'POST', '/v1/members', { email: 'zoe@x.example', role: 'admin' });
    await using zoe = await openPage(browser);
    await join(zoe.page, link, 'Zoë');
    await asPerson(page, 'POST', '/v1/members', { email: 'max@x.example', role: 'agent' });
    const live = await asPerson(page, 'POST', '/v1/questions', { type: 'nps', title: 'qx-1', name: 'qx-1' });
    await asPerson(page, 'POST', `/v1/questions/${live.id}/publish`);
    await asPerson(page, 'PATCH', `/v1/questions/${live.id}`, { title: 'qx-2' });
    const draft = await asPerson(page, 'POST', '/v1/questions', { type: 'text', title: 'qx-3', name: 'qx-3' });
    const answer = (at: number, main: number) => ({
      id: `019aa000-0000-7000-8000-00000000000${at}`,
      identity: `ux|${at}`,
      revision: 1,
      question_id: live.id,
      question_version: 1,
      state: 'completed',
      values: { main },
      comment: `cx-${at}`,
    });
    const send = (baseUrl: string, answers: object[]) =>
      asBearer(baseUrl, key.api_key, 'POST', '/v1/answers', { answers });
    await send(installation.baseUrl, [answer(1, 9), answer(2, 3)]);
    await waitFor(async () => (await asPerson(page, 'GET', '/v1/ingestion')).stored === 2);
    await using second = await startProcess('serve', installation.environment);
    await second.awaitProbe('/readyz');
    await send(second.baseUrl, [answer(1, 1)]);
    const conversation = await asPerson(page, 'POST', '/v1/conversations', {
      identity: 'ux|1',
      message: 'mx-1',
      client_message_id: randomUUID(),
    });
    await waitFor(async () => (await asPerson(page, 'GET', '/v1/ingestion')).quarantined === 1);
    return { live: live.id as string, draft: draft.id as string, conversation: conversation.id as string };
  };
  let filled: Awaited<ReturnType<typeof fill>>;

  const hasKeyboard = (opener: Locator) =>
    waitFor(async () => (await opener.and(page.locator(':focus')).count()) === 1);

  test('each dialog passes the checks, closes with Escape, and returns the focus', async () => {
    filled = await fill();
    const DIALOGS: [string, [row: string, opener: string, title: string][]][] = [
      [
        pathTo('apiKeys'),
        [
          ['', 'Create API key', 'Create API key'],
          ['kx-2', 'Origins', 'Allowed origins'],
          ['kx-1', 'Rotate', 'Rotate API key'],
          ['kx-1', 'Revoke', 'Revoke “kx-1”?'],
        ],
      ],
      [
        pathTo('members'),
        [
          ['', 'Invite member', 'Invite member'],
          ['zoe@x.example', 'Remove', 'Remove Zoë?'],
          ['max@x.example', 'Revoke', 'Revoke this invitation?'],
        ],
      ],
      [pathTo('me'), [['', 'Sign out everywhere', 'Sign out everywhere?']]],
      [pathTo('question', { id: filled.draft }), [['', 'Delete', 'Delete this draft?']]],
      [pathTo('questionResults', { id: filled.live }), [['', 'Close', 'Close this question?']]],
      [pathTo('data'), [['ux|1', 'Discard', 'Discard this answer?']]],
      [
        pathTo('conversation', { id: filled.conversation }),
        [
          ['', 'Keyboard shortcuts', 'Keyboard shortcuts'],
          ['', 'Delete', 'Delete this conversation?'],
          ['', 'Remove', 'Remove this message?'],
        ],
      ],
    ];
    for (const [path, openers] of DIALOGS) {
      await open(path);
      for (const [row, name, title] of openers) {
        const place = row ? page.getByRole('row').filter({ hasText: row }) : page.getByRole('main');
        const opener = place.getByRole('button', { name, exact: true });
        await opener.focus();
        await page.keyboard.press('Enter');
        const dialog = page.getByRole('dialog', { name: title }).or(page.getByRole('alertdialog', { name: title }));
        await dialog.waitFor();
        await expectNoViolations(ada);
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
        await hasKeyboard(opener);
      }
    }
  });

  test('Escape keeps a written message, and a shown secret on the screen', async () => {
    await open(pathTo('inbox'));
    const write = page.getByRole('button', { name: 'New message', exact: true });
    await write.focus();
    await page.keyboard.press('Enter');
    const message = page.getByRole('dialog', { name: 'New conversation' });
    await message.getByLabel('Message').fill('half a message');
    await expectNoViolations(ada);
    await page.mouse.click(5, 5);
    await hasKeyboard(message.getByLabel('Message')); // a click outside takes the focus for a frame, in which Escape is lost
    expect(await message.getByLabel('Message').inputValue()).toBe('half a message');
    await page.keyboard.press('Escape');
    await message.waitFor({ state: 'detached' });
    await hasKeyboard(write);
    await page.keyboard.press('Enter');
    await waitFor(async () => (await message.getByLabel('Message').inputValue()) === 'half a message');
    await page.keyboard.press('Escape');
    await message.waitFor({ state: 'detached' });

    await open(pathTo('apiKeys'));
    const create = page.getByRole('button', { name: 'Create API key' });
    await create.focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Name').fill('kx-3');
    await page.keyboard.press('Enter');
    const secrets = page.getByRole('dialog', { name: 'API key “kx-3”' });
    await secrets.getByText('Copy these values now.', { exact: false }).waitFor();
    await page.keyboard.press('Escape');
    await secrets.getByRole('button', { name: 'Copy .env' }).click();
    await secrets.getByRole('button', { name: 'Done' }).focus();
    await page.keyboard.press('Enter');
    await secrets.waitFor({ state: 'detached' });
    await hasKeyboard(create);
  });

  test('in German no page contains an English text', async () => {
    const storageState = await ada.context.storageState();
    await using german = await openPage(browser, { locale: 'de-DE', storageState });
    const identity = 'ux|1';
    const params: Partial<Record<PathName, Record<string, string>>> = {
      question: { id: filled.draft },
      questionResults: { id: filled.live },
      questionVersions: { id: filled.live },
      questionAnswers: { id: filled.live },
      conversation: { id: filled.conversation },
      identity: { identity },
    };
    await asPerson(page, 'PATCH', `/v1/conversations/${filled.conversation}`, { priority: 'high', tags: ['tx-1'] });
    const names: PathName[] = ['home', 'questions', 'newQuestion', 'question', 'questionResults', 'questionVersions'];
    names.push('questionAnswers', 'inbox', 'conversation', 'people', 'identity', 'insights', 'data');
    names.push('general', 'appearance', 'apiKeys', 'savedReplies', 'webhooks', 'events', 'members', 'me', 'auditLog');
    for (const name of names) {
      await open(pathTo(name, params[name]), german.page);
      expect(await german.page.getAttribute('html', 'lang')).toBe('de');
      expect(await englishOn(german.page), name).toEqual([]);
    }
    await german.context.clearCookies();
    for (const path of ['login', 'forgotten', 'setup', 'setup#token=x', 'reset#token=x', 'invitation#token=x']) {
      await german.page.goto('about:blank');
      await open(`/${path}`, german.page);
      expect(await englishOn(german.page), path).toEqual([]);
    }
    expect(german.complaints).toEqual([]);
  });
});
