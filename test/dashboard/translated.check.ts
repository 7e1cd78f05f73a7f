import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import type { Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { asBearer, asPerson, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

/**
 * Replaces every text of the page by `<font><font>«text»</font></font>`, as Chromium's translation does, and again
 * whenever a text changes. React keeps the replaced texts: a write to one of them never reaches the screen, so it is
 * reported as a warning. Removing one throws a NotFoundError without further help.
 */
const TRANSLATE = `(() => {
  const replaced = new WeakSet();
  const replace = text => {
    if (!text.data.trim() || !text.parentElement || text.parentElement.closest('font, script, style, textarea, svg')) return;
    const outer = document.createElement('font');
    outer.appendChild(document.createElement('font')).textContent = '«' + text.data.trim() + '»';
    replaced.add(text);
    text.replaceWith(outer);
  };
  const translate = () => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (texts.nextNode()) found.push(texts.currentNode);
    found.forEach(replace);
  };
  const { get, set } = Object.getOwnPropertyDescriptor(Node.prototype, 'nodeValue');
  Object.defineProperty(Text.prototype, 'nodeValue', {
    configurable: true,
    get,
    set(value) {
      if (replaced.has(this)) console.warn('stale text: ' + this.data + ' → ' + value);
      set.call(this, value);
    },
  });
  document.addEventListener('DOMContentLoaded', () => {
    new MutationObserver(translate).observe(document.body, { childList: true, characterData: true, subtree: true });
    translate();
  });
})()`;

const QUESTION = {
  type: 'nps',
  title: 'How likely?',
  locale: 'en',
  config: { labels: { low: 'Not likely', high: 'Very likely' } },
  follow_ups: [{ key: 'reason', type: 'text', title: 'Why?', show_if: { step: 'main', op: 'lte', value: 6 } }],
};

describe.runIf(hasBrowser())('a dashboard that the browser has translated', () => {
  let dashboard: OpenDashboard;
  let ada: Watched;
  let page: Page;
  let questionId: string;
  let conversationId: string;
  const open = (path: string) => dashboard.open(path);
  const button = (label: string) => page.getByRole('button', { name: `«${label}»`, exact: true });
  const press = async (label: string, next: string) => {
    await button(label).first().click();
    await button(next).first().waitFor();
    expect(ada.complaints).toEqual([]);
  };

  beforeAll(async () => {
    dashboard = await openDashboard(undefined, { permissions: ['clipboard-read', 'clipboard-write'] });
    ({ person: ada, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
    questionId = (await asPerson(page, 'POST', '/v1/questions', QUESTION)).id;
    await asPerson(page, 'POST', `/v1/questions/${questionId}/publish`);
    const started = { identity: 'user|1', subject: 'Export', message: 'See https://acme.example/export for more' };
    conversationId = (await asPerson(page, 'POST', '/v1/conversations', started)).id;
    await page.addInitScript(TRANSLATE);
  }, 300_000);
  beforeEach(() => {
    ada.complaints.length = 0;
  });
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('shows the new label of each button that changes it', async () => {
    await open(pathTo('question', { id: questionId }));
    await press('Pause', 'Resume');
    await press('Resume', 'Pause');
    await open(pathTo('conversation', { id: conversationId }));
    await button('Resolve').click();
    await page.getByText('«Conversation resolved»').waitFor();
    await open(pathTo('conversation', { id: conversationId }));
    await press('Reopen', 'Resolve');
    await button('Note').click();
    await button('Add note').waitFor();
    await button('Reply').click();
    await button('Send reply').waitFor();
    await open(pathTo('general'));
    await page
      .getByRole('button', { name: /^Copy / })
      .first()
      .click();
    await page.getByText('«Copied»').waitFor();
    await page.getByText('«Copy»').first().waitFor();
    await button('Save changes').first().click();
    await button('Save changes').first().waitFor(); // "Please wait…" meanwhile
    await open(pathTo('inbox'));
    await button('More filters').click();
    await page.getByLabel('«Unread only»').check();
    await button('More filters (1)').waitFor();
    await page.getByLabel('«Unread only»').uncheck();
    await button('More filters').waitFor();
    expect(ada.complaints).toEqual([]);
  });

  test('shows edits next to what depends on them', async () => {
    await open(pathTo('question', { id: questionId }));
    await page.locator('[data-step]').click();
    await page.getByRole('textbox', { name: '«Text of the step»' }).fill('What for?');
    await page.getByText('«2. What for?»').waitFor();
    await page.getByRole('textbox', { name: '«Question»', exact: true }).first().fill('How much?');
    await page.getByText('Shown if “How much?”').waitFor();
    await page.getByText('«Unsaved changes»').waitFor();
    expect(ada.complaints).toEqual([]);
  });

  test('shows what happens meanwhile', async () => {
    await open(pathTo('conversation', { id: conversationId }));
    await page.getByRole('row').getByText('«See https://acme.example/export for more»').first().waitFor();
    await asPerson(page, 'POST', `/v1/conversations/${conversationId}/messages`, {
      body: 'Ask Grace',
      kind: 'note',
    });
    await page.getByRole('list', { name: 'Messages' }).getByText('«Ask Grace»').waitFor();
    await open(pathTo('home'));
    const key = await asPerson(page, 'POST', '/v1/api-keys', { name: 'backend', kind: 'server' });
    await waitFor(async () => (await page.locator('main ol svg').count()) > 0);
    const answer = { id: randomUUID(), identity: 'user|1', revision: 1, question_id: questionId, question_version: 1 };
    await asBearer(dashboard.installation.baseUrl, key.api_key, 'POST', '/v1/answers', {
      answers: [{ ...answer, state: 'completed', values: { main: 9 } }],
    });
    await page.getByText('«All answers are stored»').waitFor();
    expect(ada.complaints).toEqual([]);
  });

  test('goes from page to page', async () => {
    await open(pathTo('home'));
    const links = page.getByRole('navigation').getByRole('link');
    for (let round = 0; round < 2; round++)
      for (const path of await links.evaluateAll(all => all.map(link => link.getAttribute('href')))) {
        await page.locator(`nav a[href="${path}"]`).first().click();
        await page.getByRole('heading', { level: 1 }).first().waitFor();
        await page.waitForLoadState('networkidle');
      }
    for (const path of [
      pathTo('newQuestion'),
      pathTo('questionResults', { id: questionId }),
      pathTo('questionAnswers', { id: questionId }),
      pathTo('questionVersions', { id: questionId }),
      pathTo('identity', { identity: 'user|1' }),
      pathTo('apiKeys'),
      pathTo('webhooks'),
      pathTo('events'),
      pathTo('members'),
      pathTo('me'),
      pathTo('auditLog'),
    ]) {
      await open(path);
      await page.waitForLoadState('networkidle');
    }
    expect(ada.complaints).toEqual([]);
  });

  test('creates and opens demo data', async () => {
    await open(pathTo('general'));
    await button('Create demo data').click();
    await button('Create demo data').waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1, name: '«Home»' }).waitFor();
    expect(ada.complaints).toEqual([]);
  });
});
