import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { toTsvector } from '../../src/storage/search/lexemes.ts';
import { expectNoViolations, openPage, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { seedConversations } from '../support/conversations-seed.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import type { Installation } from '../support/installation.ts';
import { asPerson, join, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

const MANY = 100_000;
/** The only conversation whose message contains the search word. */
const NEEDLE = 77_777;
/** The maximum number of rendered rows for a list of any length: those on a screen of 900 px and a few around them. */
const MOST_ROWS = 30;
/** The number of conversations that the list requests at a time. */
const PAGE = 50;

/** Indexes only the search word. Words in the index begin with their tenant (`toTsvector`). */
const INDEX_NEEDLE = `
insert into message_words select tenant_id, conversation_id, id, $1::tsvector from messages where body like '% needle'`;

describe.runIf(hasBrowser())('an inbox of a hundred thousand conversations', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let installation: Installation;
  let browser: Browser;
  let ada: Watched;
  let page: Page;
  const open = (path: string, of?: Page) => dashboard.open(path, of);
  const list = () => page.getByRole('grid', { name: 'Conversations' });
  const row = (number: number) => list().getByRole('row', { name: `user|${number}`, exact: true });
  const thread = () => page.getByRole('region', { name: 'Conversation', exact: true });
  const isOpen = (number: number) =>
    thread()
      .getByRole('link', { name: `user|${number}`, exact: true })
      .waitFor();
  /** Clicks are ignored while the list scrolls; scroll events arrive with the next frame. */
  const isAtRest = async () => {
    await page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))');
    const pointerEvents = () => page.evaluate("getComputedStyle(document.querySelector('[role=row]')).pointerEvents");
    await waitFor(async () => (await pointerEvents()) !== 'none');
  };
  const address = () => `/v1/conversations/${new URL(page.url()).pathname.split('/').at(-1)}`;
  const stored = () => asPerson(page, 'GET', address());
  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ installation, browser, person: ada, page } = dashboard);
    await setUp(page, installation.setupLink);
    await installation.database.query(seedConversations(NEEDLE), [MANY]);
    await installation.database.query('analyze conversations, messages');
    const [tenant] = await installation.database.query<{ id: string }>('select id from tenants');
    await installation.database.query(INDEX_NEEDLE, [toTsvector(tenant?.id ?? '', 'needle')]);
    const { link } = await asPerson(page, 'POST', '/v1/members', { email: 'linus@acme.example', role: 'agent' });
    await using linus = await openPage(browser);
    await join(linus.page, link, 'Linus');
  }, 300_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  /** The queries of the requests for conversations during an action. */
  const asked = async (act: () => Promise<unknown>): Promise<URLSearchParams[]> => {
    const queries: URLSearchParams[] = [];
    const note = (request: { url(): string }) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/v1/conversations') queries.push(searchParams);
    };
    page.on('request', note);
    await act();
    page.off('request', note);
    return queries;
  };

  test('shows its first page with one request, and as many rows as fit on the screen', async () => {
    const queries = await asked(async () => {
      await open(pathTo('inbox'));
      await row(1).waitFor();
    });
    expect(queries.map(query => [query.get('limit'), query.get('cursor')])).toEqual(
      queries.map(() => [String(PAGE), null]),
    );
    expect(await list().getByRole('row').count()).toBeLessThan(MOST_ROWS);
    await expectNoViolations(ada);
  });

  test('loads further pages on scroll, without more rows in the DOM', async () => {
    await list().hover();
    const queries = await asked(async () => {
      for (let at = 0; (await row(4 * PAGE).count()) === 0; at++) {
        expect(at).toBeLessThan(200);
        await page.mouse.wheel(0, 600);
        await page.waitForTimeout(30);
        expect(await list().getByRole('row').count()).toBeLessThan(MOST_ROWS);
      }
    });
    const cursors = queries.map(query => query.get('cursor')).filter(Boolean);
    expect(cursors.length).toBeGreaterThanOrEqual(3);
    expect(new Set(cursors).size).toBe(cursors.length); // each page once
    await row(4 * PAGE).scrollIntoViewIfNeeded();
    await isAtRest();
    await row(4 * PAGE).click();
    await isOpen(4 * PAGE);
    await expectNoViolations(ada);
  });

  test('finds one by a word of its messages', async () => {
    await page.getByLabel('Search conversations').fill('needle');
    await row(NEEDLE).waitFor();
    expect(await list().getByRole('row').count()).toBe(1);
    await page.getByLabel('Search conversations').fill('no such word');
    await page.getByText('No matching conversations').waitFor();
    await expectNoViolations(ada);
    await page.getByLabel('Search conversations').fill('');
    await row(1).waitFor();
  });

  test('can be used with the keyboard only', async () => {
    await open(pathTo('inbox'));
    await row(1).waitFor();
    await page.keyboard.press('/');
    expect(await page.getByLabel('Search conversations').and(page.locator(':focus')).count()).toBe(1);
    await page.keyboard.type('jjeer'); // typed as text, not as shortcuts
    await page.getByText('No matching conversations').waitFor();
    await page.keyboard.press('Escape');
    await row(1).waitFor();
    for (let tabs = 0; (await page.locator('input:focus, select:focus').count()) > 0; tabs++) {
      expect(tabs).toBeLessThan(10);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('j');
    await isOpen(1);
    await page.keyboard.press('j');
    await isOpen(2);
    await page.keyboard.press('k');
    await isOpen(1);

    await page.keyboard.press('r');
    await page.keyboard.type('Hello, e and a are no keys here.');
    await page.keyboard.press('Control+Enter');
    const messages = page.getByRole('list', { name: 'Messages' });
    await messages.getByText('Hello, e and a are no keys here.').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('n');
    await page.keyboard.type('A note');
    await page.keyboard.press('Control+Enter');
    await messages.getByText('A note', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('a');
    await messages.getByText('Ada took the conversation').waitFor();
    await page.keyboard.press('e');
    await isOpen(2); // the next one
    await page.goBack();
    await isOpen(1);
    await messages.getByText('Ada resolved the conversation').waitFor();
    await page.keyboard.press('e');
    await messages.getByText('Ada reopened the conversation').waitFor();
    await expectNoViolations(ada);
    const me = await asPerson(page, 'GET', '/v1/me');
    expect(await stored()).toMatchObject({ status: 'open', assignee_id: me.account.memberships[0].member_id });
  });

  test('the keys work beyond the visible rows, and can be disabled', async () => {
    await page.keyboard.press('j');
    await isOpen(2);
    for (let number = 3; number <= 20; number++) {
      await page.keyboard.press('j');
      await isOpen(number);
    }
    const frame = await list().boundingBox();
    const found = await row(20).boundingBox();
    if (!frame || !found) throw new Error('The row of the open conversation is not in the page.');
    expect(found.y).toBeGreaterThanOrEqual(frame.y);
    expect(found.y + found.height).toBeLessThanOrEqual(frame.y + frame.height + 1);
    expect(await list().getByRole('row').count()).toBeLessThan(MOST_ROWS);

    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.getByLabel('Single-key shortcuts are on').uncheck();
    await expectNoViolations(ada);
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    await page.keyboard.press('k');
    await page.waitForTimeout(200);
    await isOpen(20);
    await page.getByRole('button', { name: 'Keyboard shortcuts', exact: true }).click();
    await help.getByLabel('Single-key shortcuts are on').check();
    await help.getByRole('button', { name: 'Close' }).last().click();
  });

  test('a conversation is assigned, prioritized, tagged, resolved and reopened, and each filter finds it', async () => {
    await thread().getByLabel('Assignee').selectOption('Linus');
    await page.getByText('Ada assigned the conversation to Linus').waitFor();
    await thread().getByLabel('Priority').selectOption('Urgent');
    await page.getByText('Ada set the priority to Urgent').waitFor();
    await thread().getByLabel('Add tag').fill('export');
    await page.keyboard.press('Enter');
    await thread().getByRole('button', { name: 'Remove tag export' }).waitFor();
    await waitFor(async () => (await stored()).tags.length > 0); // shown before it is stored
    expect(await stored()).toMatchObject({ priority: 'urgent', tags: ['export'], status: 'open' });

    const filters = page.getByRole('region', { name: 'Conversations', exact: true });
    const findsOnly = async (number: number) => {
      await row(number).waitFor();
      await waitFor(async () => (await list().getByRole('row').count()) === 1);
    };
    await filters.getByRole('button', { name: 'More filters' }).click();
    await filters.getByLabel('Tag', { exact: true }).fill('export');
    await findsOnly(20);
    await filters.getByLabel('Tag', { exact: true }).fill('');
    await filters.getByLabel('Assignee').selectOption('Linus');
    await findsOnly(20);
    await filters.getByLabel('Assignee').selectOption('Assigned to me');
    await findsOnly(1);
    await filters.getByLabel('Assignee').selectOption('All assignees');
    await filters.getByLabel('Unread only').check();
    await page.getByText('No matching conversations').waitFor();
    await filters.getByLabel('Unread only').uncheck();
    await filters.getByLabel('Status').selectOption('Resolved');
    await page.getByText('No matching conversations').waitFor();
    await thread().getByRole('button', { name: 'Resolve' }).click();
    await findsOnly(20);
    await row(20).click();
    await isOpen(20);
    await expectNoViolations(ada);
    await thread().getByRole('button', { name: 'Reopen' }).click();
    await page.getByText('No matching conversations').waitFor();
    await thread().getByRole('button', { name: 'Remove tag export' }).click();
    await waitFor(async () => (await stored()).tags.length === 0);
  });

  test('a conversation is deleted only after confirmation', async () => {
    await thread().getByRole('button', { name: 'Delete' }).click();
    const question = page.getByRole('alertdialog', { name: 'Delete this conversation?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    await isOpen(20);
    await thread().getByRole('button', { name: 'Delete' }).click();
    await question.getByRole('button', { name: 'Delete conversation' }).click();
    await page.getByText('No conversation selected').waitFor();
    const { data } = await asPerson(page, 'GET', `/v1/conversations?identity=${encodeURIComponent('user|20')}`);
    expect(data).toEqual([]);
    await expectNoViolations(ada);
  });
});
