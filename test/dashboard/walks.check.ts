import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, expectNoViolationsOn, openPage, toasted, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import type { Installation } from '../support/installation.ts';
import { POLYGLOTS } from '../support/polyglots.ts';
import { asBearer, asPerson, PASSWORD, type ShownKey, setUp, signToken } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

/** A stored answer must appear in the open results within this time. */
const SEEN_WITHIN_MS = 5000;

/** The design's color for good values, as resolved by a canvas. */
const COLOR_OF_PROMOTERS = `(() => {
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.color = 'var(--chart-good)';
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
})()`;
/** All colors in the first chart. */
const PAINTED_COLORS = `(() => {
  const canvas = document.querySelector('canvas');
  const { width, height } = canvas;
  const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
  const colors = new Set();
  for (let at = 0; at < pixels.length; at += 4)
    if (pixels[at + 3] === 255) colors.add('rgb(' + pixels.slice(at, at + 3).join(', ') + ')');
  return [...colors];
})()`;

describe.runIf(hasBrowser())('through the dashboard', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let installation: Installation;
  let browser: Browser;
  let owner: Watched;
  let page: Page;
  let tenantId: string;
  let key: ShownKey;
  let questionId: string;
  const open = (path: string) => dashboard.open(path);

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ installation, browser, person: owner, page } = dashboard);
  }, 300_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('the setup creates the owner and the first tenant, and its link works once', async () => {
    await setUp(page, installation.setupLink);
    await expectNoViolations(owner);
    await using second = await openPage(browser);
    await second.page.goto(installation.setupLink);
    await second.page.getByLabel('Company or product name').fill('Thief');
    await second.page.getByLabel('Your name').fill('Mallory');
    await second.page.getByLabel('Email').fill('mallory@example.com');
    await second.page.getByLabel('Password').fill(PASSWORD);
    await second.page.getByRole('button', { name: 'Complete setup' }).click();
    await second.page.getByRole('alert').waitFor();
    await expectNoViolations(second);
  });

  test('a key is created with the keyboard only, and its secrets are shown once', async () => {
    await open(pathTo('apiKeys'));
    await page.getByRole('button', { name: 'Create API key' }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Name').waitFor();
    await page.keyboard.type('backend');
    await expectNoViolations(owner);
    await page.keyboard.press('Enter');
    await page.getByText('Copy these values now.', { exact: false }).waitFor();
    const values = await page.getByRole('dialog').locator('code').allTextContents();
    key = { id: values[0] ?? '', secret: values[1] ?? '', api_key: values[2] ?? '' };
    expect(key.id).toMatch(/^key_/);
    expect(key.secret).toMatch(/^[\w-]{43}$/);
    expect(key.api_key).toMatch(/^sk_/);
    await expectNoViolations(owner);
    await page.getByRole('button', { name: 'Copy .env' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('cell', { name: /backend/ }).waitFor();
    expect(await page.content()).not.toContain(key.secret);
  });

  test('the tenant id is shown under General', async () => {
    await open(pathTo('general'));
    tenantId = (await page.locator('code', { hasText: 'tenant_' }).first().textContent()) ?? '';
    const me = await asPerson(page, 'GET', '/v1/me');
    expect(tenantId).toBe(me.account.memberships[0].tenant.id);
  });

  test('a question is written, previewed and published', async () => {
    await open(pathTo('newQuestion'));
    await page.getByRole('textbox', { name: 'Question', exact: true }).fill('How likely are you to recommend us?');
    await page.getByLabel('Low end label').fill('Never');
    const preview = page.getByRole('group', { name: 'Preview' });
    await preview.getByText('How likely are you to recommend us?').waitFor();
    await preview.getByText('Never').waitFor();
    await waitFor(async () => (await preview.getByRole('radio').count()) === 11);
    await expectNoViolations(owner);
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByText('All changes are saved').waitFor();
    await page.getByRole('button', { name: 'Publish' }).click();
    await expectNoViolations(owner);
    await page.getByRole('dialog').getByRole('button', { name: 'Publish now' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    questionId = new URL(page.url()).pathname.split('/').at(-2) ?? '';
    expect((await asBearer(installation.baseUrl, key.api_key, 'GET', `/v1/questions/${questionId}`)).status).toBe(
      'live',
    );
  });

  test('the third onboarding step waits for a card, not for the use of the key', async () => {
    await open(pathTo('home'));
    const step = (title: string) => page.getByRole('listitem').filter({ hasText: title });
    await step('Publish a question').getByText('done', { exact: true }).waitFor();
    await step('Fetch cards from your app').getByText('to do', { exact: true }).waitFor();
    await asBearer(installation.baseUrl, await signToken(key, tenantId, 'user|41'), 'GET', '/v1/cards');
    await step('Fetch cards from your app').getByText('done', { exact: true }).waitFor({ timeout: SEEN_WITHIN_MS });
    await step('Receive your first answer').getByText('to do', { exact: true }).waitFor();
  });

  test('an answer sent over HTTP is in the results within 5 s, without a reload', async () => {
    await open(pathTo('questionResults', { id: questionId }));
    await page.getByText('No answers in this period').waitFor();
    const token = await signToken(key, tenantId, 'user|42');
    const { data } = await asBearer(installation.baseUrl, token, 'GET', '/v1/cards');
    const answer = {
      id: randomUUID(),
      revision: 1,
      card_id: data[0].id,
      question_id: questionId,
      question_version: 1,
      state: 'completed',
      values: { main: 9 },
      comment: 'I like the smell of it',
    };
    await asBearer(installation.baseUrl, token, 'POST', '/v1/answers', { answers: [answer] });
    await page.getByText('I like the smell of it').waitFor({ timeout: SEEN_WITHIN_MS });
    await page.getByText('+100', { exact: true }).first().waitFor({ timeout: SEEN_WITHIN_MS });
    await expectNoViolations(owner);
  });

  test('a chart has the colors of its legend', async () => {
    const promoters = await page.evaluate(COLOR_OF_PROMOTERS);
    const painted = async () => (await page.evaluate(PAINTED_COLORS)) as string[];
    await waitFor(async () => (await painted()).includes(promoters as string));
  });

  test('a comment links to all data of its identity', async () => {
    await page.getByRole('link', { name: 'user|42' }).click();
    await page.getByRole('heading', { level: 1, name: 'user|42' }).waitFor();
    await page.getByText('I like the smell of it').waitFor();
    await expectNoViolations(owner);
  });

  test('once an answer is stored, the home page has scores, comments and the state of the data', async () => {
    await open(pathTo('home'));
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.getByText('I like the smell of it').waitFor();
    await page.getByText('+100', { exact: true }).waitFor();
    await page.getByText('All answers are stored').waitFor();
    expect(await page.getByText('Getting started').count()).toBe(0);
    await expectNoViolations(owner);
  });

  test('Ctrl+K leads to a page, a question and a person, with the keyboard only', async () => {
    const goTo = async (search: string, result: RegExp) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: /^Search pages/ }).waitFor();
      await page.keyboard.type(search);
      const option = page.getByRole('option', { name: result });
      await option.waitFor();
      await expectNoViolations(owner);
      while ((await option.getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
    };
    await goTo('audit', /Audit log/);
    await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
    await goTo('recommend', /How likely are you to recommend us/);
    await page.getByRole('heading', { level: 1, name: 'How likely are you to recommend us?' }).waitFor();
    await goTo('user|42', /user\|42/);
    await page.getByRole('heading', { level: 1, name: 'user|42' }).waitFor();
  });

  test('the token inspector names the fault', async () => {
    await open(pathTo('apiKeys'));
    await page.getByLabel('Token', { exact: true }).fill(`${await signToken(key, tenantId, 'user|42')}x`);
    await page.getByRole('button', { name: 'Inspect' }).click();
    await page.getByText('The token is invalid.').waitFor();
    await expectNoViolations(owner);
  });

  test('a user writes, the inbox shows it, the team replies, the user reads it', async () => {
    const token = await signToken(key, tenantId, 'user|42');
    await open(pathTo('inbox'));
    const { id } = await asBearer(installation.baseUrl, token, 'POST', '/v1/conversations', {
      message: 'Where is the export?',
    });
    const row = page.getByRole('row', { name: /user\|42/ });
    await row.waitFor({ timeout: SEEN_WITHIN_MS });
    await waitFor(async () => (await page.title()).startsWith('(1) '));
    await expectNoViolations(owner);
    await row.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('list', { name: 'Messages' }).getByText('Where is the export?').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('r');
    await page.keyboard.type('Under Settings.');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('list', { name: 'Messages' }).getByText('Under Settings.').waitFor();
    await expectNoViolations(owner);
    const { data } = await asBearer(installation.baseUrl, token, 'GET', `/v1/conversations/${id}/messages`);
    expect(data.map((message: { body: string }) => message.body)).toEqual(['Where is the export?', 'Under Settings.']);
    await waitFor(async () => !(await page.title()).startsWith('('));
  });

  test('a note is only visible to the team, a tag and a resolution are kept', async () => {
    await page.getByRole('button', { name: 'Note', exact: true }).click();
    await page.getByLabel('Internal note').fill('Seen by us alone');
    await page.getByRole('button', { name: 'Add note' }).click();
    await page.getByRole('list', { name: 'Messages' }).getByText('Seen by us alone').waitFor();
    await page.getByRole('region', { name: 'Conversation', exact: true }).getByLabel('Add tag').fill('export');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove tag export' }).waitFor();
    await page.getByRole('button', { name: 'Resolve' }).click();
    await page.getByText('Conversation resolved').waitFor();
    const token = await signToken(key, tenantId, 'user|42');
    const { data } = await asBearer(installation.baseUrl, token, 'GET', '/v1/conversations');
    expect(data[0].status).toBe('resolved');
    const messages = await asBearer(installation.baseUrl, token, 'GET', `/v1/conversations/${data[0].id}/messages`);
    expect(JSON.stringify(messages)).not.toContain('Seen by us alone');
    await expectNoViolations(owner);
  });

  test('a shorter retention asks for confirmation, and a longer one does not', async () => {
    await open(pathTo('general'));
    const retention = async () => (await asPerson(page, 'GET', '/v1/tenant')).retention;
    const days = page.getByLabel('Keep answers for (days)');
    const save = page.locator('form').filter({ has: days }).getByRole('button', { name: 'Save changes', exact: true });
    const question = page.getByRole('alertdialog', { name: 'Delete older data?' });
    await days.fill('3000');
    await page.getByLabel('Attributes that apps can set').fill('plan\nseats');
    await save.click();
    await question.waitFor();
    await expectNoViolations(owner);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'hidden' });
    expect(await retention()).toEqual({ answers_days: null, conversations_days: null });
    await save.click();
    await page.getByRole('button', { name: 'Save and delete' }).click();
    await toasted(page, 'Saved');
    expect(await retention()).toEqual({ answers_days: 3000, conversations_days: null });
    expect((await asPerson(page, 'GET', '/v1/tenant')).identity_attributes_allowed).toEqual(['plan', 'seats']);
    await open(pathTo('general'));
    await days.fill('');
    await save.click();
    await toasted(page, 'Saved');
    expect(await question.count()).toBe(0);
    expect((await retention()).answers_days).toBeNull();
    await page.getByLabel('Attributes that apps can set').fill('not a name!');
    await save.click();
    await page.getByText('Names can contain up to 64 letters', { exact: false }).waitFor();
    await expectNoViolations(owner);
  });

  test('an invitation without a mail server shows its link, once', async () => {
    await open(pathTo('members'));
    await page.getByRole('button', { name: 'Invite member' }).click();
    await page.getByLabel('Email').fill('linus@acme.example');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByText('Send this link to the new member.', { exact: false }).waitFor();
    const link = await page.getByRole('dialog').locator('code').first().textContent();
    expect(link).toMatch(/\/dashboard\/invitation#token=[\w-]{43}$/);
    await expectNoViolations(owner);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('cell', { name: 'linus@acme.example' }).waitFor();
    expect(await page.content()).not.toContain(link);
  });

  test('editing a live question creates a version with its changes', async () => {
    await open(pathTo('question', { id: questionId }));
    await page.getByRole('textbox', { name: 'Question', exact: true }).fill('Would you recommend us?');
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('button', { name: 'Publish changes' }).click();
    await page.getByText('The changes are live.').waitFor();
    await open(pathTo('questionVersions', { id: questionId }));
    await page.getByRole('heading', { name: 'Version 2' }).waitFor();
    await page.locator('ins', { hasText: 'Would you recommend us?' }).waitFor();
    await expectNoViolations(owner);
  });

  test('every page passes the checks', { timeout: 240_000 }, async () => {
    const paths = [
      pathTo('home'),
      pathTo('questions'),
      pathTo('newQuestion'),
      pathTo('question', { id: questionId }),
      pathTo('questionResults', { id: questionId }),
      pathTo('questionAnswers', { id: questionId }),
      pathTo('questionVersions', { id: questionId }),
      pathTo('inbox'),
      pathTo('people'),
      pathTo('identity', { identity: 'user|42' }),
      pathTo('insights'),
      pathTo('data'),
      pathTo('general'),
      pathTo('apiKeys'),
      pathTo('webhooks'),
      pathTo('events'),
      pathTo('members'),
      pathTo('me'),
      pathTo('auditLog'),
    ];
    await expectNoViolationsOn(owner, paths, open);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('sixty texts that try script injection stay texts', async () => {
    const token = await signToken(key, tenantId, 'xss');
    for (const [at, text] of POLYGLOTS.entries()) {
      const answer = { id: randomUUID(), identity: text, revision: 1, question_id: questionId, question_version: 2 };
      await asBearer(installation.baseUrl, key.api_key, 'POST', '/v1/answers', {
        answers: [{ ...answer, state: 'completed', values: { main: 5 }, comment: text }],
      });
      if (at % 6 === 0)
        await asBearer(installation.baseUrl, token, 'POST', '/v1/conversations', { message: text, subject: text });
      if (at % 10 === 0)
        await asPerson(page, 'POST', '/v1/questions', { type: 'text', title: text, description: text });
    }
    await asPerson(page, 'PATCH', '/v1/tenant', { name: POLYGLOTS[0] });
    await waitFor(async () => {
      const { stored } = await asBearer(installation.baseUrl, key.api_key, 'GET', '/v1/ingestion');
      return stored >= POLYGLOTS.length;
    });
    await open(pathTo('questionResults', { id: questionId }));
    while (await page.getByRole('button', { name: 'Show more' }).isVisible()) {
      await page.getByRole('button', { name: 'Show more' }).click();
      await page.waitForTimeout(200);
    }
    for (const text of POLYGLOTS) expect(await page.getByText(text, { exact: true }).count()).toBeGreaterThan(0);
    for (const path of [pathTo('questions'), pathTo('inbox'), pathTo('identity', { identity: POLYGLOTS[7] as string })])
      await open(path);
    expect(owner.complaints).toEqual([]);
  });

  test('an analyst can read and is offered no changes', async () => {
    const { link } = await asPerson(page, 'POST', '/v1/members', { email: 'eva@acme.example', role: 'analyst' });
    await using eva = await openPage(browser);
    await eva.page.goto(link);
    await eva.page.getByLabel('Your name').fill('Eva');
    await eva.page.getByLabel('Password').fill(PASSWORD);
    await eva.page.getByRole('button', { name: 'Join' }).click();
    await eva.page.getByRole('navigation', { name: 'Pages' }).waitFor();
    await eva.page.goto(`${installation.baseUrl}/dashboard/questions`);
    await eva.page.getByRole('link', { name: 'How likely are you to recommend us?' }).first().waitFor();
    expect(await eva.page.getByRole('link', { name: 'New question' }).count()).toBe(0);
    await eva.page.goto(`${installation.baseUrl}/dashboard/settings`);
    await eva.page.getByRole('link', { name: 'General' }).waitFor();
    expect(await eva.page.getByRole('link', { name: 'API keys' }).count()).toBe(0);
    expect(await eva.page.getByRole('link', { name: 'Audit log' }).count()).toBe(0);
    await expectNoViolations(eva);
  });

  test('signing out ends the session, and going back shows the login', async () => {
    await open(pathTo('home'));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('Email').fill('ada@acme.example');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  });
});
