import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, expectNoViolationsOn, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { asBearer, asPerson, setUp, signToken } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

/** Snoozing, saved replies and merging, as an agent uses them all day. */
describe.runIf(hasBrowser())('a working day in the inbox', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let ada: Watched;
  let page: Page;
  const thread = () => page.getByRole('region', { name: 'Conversation', exact: true });
  const messages = () => page.getByRole('list', { name: 'Messages' });
  const composer = () => page.getByRole('textbox', { name: /^(Reply to the user|Internal note)$/ });
  const row = (identity: string) =>
    page.getByRole('grid', { name: 'Conversations' }).getByRole('row', { name: identity, exact: true });
  const isOpen = (identity: string) => thread().getByRole('link', { name: identity, exact: true }).waitFor();
  const stored = (id: string) => asPerson(page, 'GET', `/v1/conversations/${id}`);
  const start = async (identity: string, message = 'Hello'): Promise<string> =>
    (await asPerson(page, 'POST', '/v1/conversations', { identity, message })).id;
  const open = (id: string) => dashboard.open(pathTo('conversation', { id }));
  const snoozeItem = (name: RegExp) => page.getByRole('menuitem', { name });

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ person: ada, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
    await asPerson(page, 'PATCH', '/v1/tenant', { timezone: 'Asia/Tokyo' });
    await asPerson(page, 'PUT', '/v1/identities/day%7C3', { attributes: { plan: 'Club' } });
  }, 300_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('a snoozed conversation leaves the list and the next one opens; Undo brings it back', async () => {
    const [next, id] = [await start('day|next'), await start('day|1')];
    await open(id);
    await row('day|next').waitFor();
    await page.keyboard.press('s');
    await snoozeItem(/^Tomorrow morning.*09:00/).waitFor();
    await expectNoViolations(ada);
    for (let moves = 0; moves < 3; moves++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await isOpen('day|next');
    expect(page.url()).toContain(next);
    const { status, snoozed_until } = await stored(id);
    expect(status).toBe('snoozed');
    expect(snoozed_until).toMatch(/T00:00:00(\.000)?Z$/); // nine in Tokyo
    await row('day|1').waitFor({ state: 'detached' });
    await expectNoViolations(ada);
    await page.getByRole('button', { name: 'Undo' }).click();
    await isOpen('day|1');
    expect((await stored(id)).status).toBe('open');
    await row('day|1').waitFor();
  });

  test('a snooze until a picked time is shown, and ended by hand', async () => {
    const id = await start('day|2');
    await open(id);
    await thread().getByRole('button', { name: 'Snooze' }).click();
    await snoozeItem(/^Choose a time/).click();
    const dialog = page.getByRole('dialog', { name: 'Snooze' });
    await dialog.getByText('Asia/Tokyo', { exact: false }).waitFor();
    await dialog.getByLabel('Snooze until').fill('2020-01-01T09:00');
    await dialog.getByRole('button', { name: 'Snooze', exact: true }).click();
    await dialog.getByText('Choose a time from one minute to one year ahead.').waitFor();
    await expectNoViolations(ada);
    const day = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
    await dialog.getByLabel('Snooze until').fill(`${day}T14:30`);
    await dialog.getByRole('button', { name: 'Snooze', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await waitFor(async () => (await stored(id)).status === 'snoozed');
    expect(new Date((await stored(id)).snoozed_until).toISOString()).toBe(`${day}T05:30:00.000Z`);
    await open(id);
    await thread()
      .getByText(/^Snoozed until .*14:30$/)
      .waitFor();
    await messages()
      .getByText(/^Ada snoozed the conversation until .*14:30$/)
      .waitFor();
    expect(await messages().getByText('Ada snoozed the conversation', { exact: true }).count()).toBe(0);
    await page.keyboard.press('s');
    await snoozeItem(/^End the snooze/).click();
    await messages().getByText('Ada ended the snooze').waitFor();
    expect((await stored(id)).status).toBe('open');
  });

  test('a reply shows the status that it has led to, without a line of its own', async () => {
    const id = await start('day|reply');
    await asPerson(page, 'PATCH', `/v1/conversations/${id}`, { status: 'resolved' });
    await asPerson(page, 'POST', `/v1/conversations/${id}/messages`, { body: 'One more thing' });
    await open(id);
    await messages().getByText('Ada resolved the conversation').waitFor();
    await messages().getByText('Now: Waiting for user').waitFor();
    expect(await messages().getByRole('listitem').count()).toBe(3);
  });

  test('saved replies are written in the settings, with faults at their fields', async () => {
    await dashboard.open(pathTo('savedReplies'));
    await page.getByText('No saved replies yet').waitFor();
    await expectNoViolations(ada);
    await page.getByRole('button', { name: 'New saved reply' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New saved reply' });
    const save = dialog.getByRole('button', { name: 'Save', exact: true });
    await dialog.getByLabel('Name').fill('Where the export is');
    await dialog.getByLabel('Shortcut').fill('Not this');
    await dialog.getByLabel('Text', { exact: true }).fill('On {{identity.attributes.plan}} it is under Data.');
    await save.click();
    await dialog.getByText('Must have a text for users without the attribute', { exact: false }).waitFor();
    await dialog
      .getByLabel('Text', { exact: true })
      .fill('On {{identity.attributes.plan|your plan}} it is under Data.');
    await save.click();
    await dialog.getByText('Must consist of a-z, 0-9 and "-".').waitFor();
    await dialog.getByLabel('Shortcut').fill('export');
    await dialog.getByLabel('Add tags').fill('x'.repeat(60));
    await save.click();
    const tags = dialog.getByLabel('Add tags');
    await waitFor(async () => (await tags.getAttribute('aria-invalid')) === 'true');
    await expectNoViolations(ada);
    await tags.fill('');
    await page.keyboard.press('Escape'); // keeps what was typed
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New saved reply' }).first().click();
    await waitFor(async () => (await dialog.getByLabel('Shortcut').inputValue()) === 'export');
    await save.click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('/export', { exact: true }).waitFor();

    await asPerson(page, 'POST', '/v1/macros', {
      name: 'Done, thank you',
      body: 'Thank you, {{identity.attributes.plan|friend}}!',
      changes: { status: 'resolved', add_tags: ['done'] },
    });
    await dashboard.open(pathTo('savedReplies'));
    await page.getByText('Set to “Resolved” · Add #done').waitFor();
    const done = page.getByRole('row').filter({ hasText: 'Done, thank you' });
    await done.getByRole('button', { name: 'Edit' }).click();
    const edited = page.getByRole('dialog', { name: 'Edit saved reply' });
    await edited.getByLabel('Priority').selectOption('Low');
    await edited.getByRole('button', { name: 'Save', exact: true }).click();
    await done.getByText('Priority: Low', { exact: false }).waitFor();
    const { data } = await asPerson(page, 'GET', '/v1/macros');
    expect(data[1].changes).toEqual({ status: 'resolved', priority: 'low', add_tags: ['done'] });
    await expectNoViolations(ada);
  });

  test('a saved reply shows its assignee, before and after the members have loaded', async () => {
    const [member] = (await asPerson(page, 'GET', '/v1/members')).data;
    const macro = { name: 'To me', shortcut: 'mine', body: null, changes: { assignee_id: member.id } };
    const { id } = await asPerson(page, 'POST', '/v1/macros', macro);
    await page.route('**/v1/members*', async route => {
      await sleep(1500);
      await route.continue();
    });
    await dashboard.open(pathTo('savedReplies'));
    await page.getByRole('row').filter({ hasText: 'To me' }).getByRole('button', { name: 'Edit' }).click();
    const edited = page.getByRole('dialog', { name: 'Edit saved reply' });
    const assignee = edited.getByLabel('Assignee');
    expect(await assignee.inputValue()).toBe(member.id);
    await assignee.getByRole('option', { name: member.name }).waitFor({ state: 'attached' });
    expect(await assignee.inputValue()).toBe(member.id);
    await edited.getByRole('button', { name: 'Save', exact: true }).click();
    await edited.waitFor({ state: 'detached' });
    await page.unroute('**/v1/members*');
    const { data } = await asPerson(page, 'GET', '/v1/macros');
    expect(data.find((each: { id: string }) => each.id === id).changes).toEqual({ assignee_id: member.id });
    await asPerson(page, 'DELETE', `/v1/macros/${id}`);
  });

  test('a slash finds a saved reply and inserts it at the cursor', async () => {
    const id = await start('day|3');
    await open(id);
    await messages().getByText('Hello', { exact: true }).waitFor();
    await page.keyboard.press('r');
    await page.keyboard.type('Hi,  bye');
    for (let moves = 0; moves < 4; moves++) await page.keyboard.press('ArrowLeft');
    await page.keyboard.type('/exp');
    const offers = page.getByRole('listbox', { name: 'Saved replies' });
    await offers.getByRole('option', { name: /Where the export is/ }).waitFor();
    await expectNoViolations(ada);
    await page.keyboard.press('Escape');
    await offers.waitFor({ state: 'detached' });
    await page.keyboard.type('o');
    expect(await offers.count()).toBe(0); // closed for this slash
    await page.keyboard.press('Backspace');
    for (const _ of '/exp') await page.keyboard.press('Backspace');
    await page.keyboard.type('/exp');
    await offers.waitFor();
    await page.keyboard.press('Enter');
    await waitFor(async () => (await composer().inputValue()) === 'Hi, On Club it is under Data. bye');
    await page.keyboard.type('!');
    expect(await composer().inputValue()).toBe('Hi, On Club it is under Data.! bye');
    await composer().fill('');
  });

  test('a saved reply with changes shows them first, and makes them with its text', async () => {
    const [next, id] = [await start('day|after'), await start('day|4')];
    await open(id);
    await row('day|after').waitFor();
    await composer().fill('Kept. ');
    await composer().focus();
    await page.keyboard.press('End');
    await page.keyboard.type('/done');
    await page.getByRole('listbox', { name: 'Saved replies' }).waitFor();
    await page.keyboard.press('Tab');
    const shown = page.getByRole('region', { name: 'Saved reply “Done, thank you”' });
    for (const text of ['Set to “Resolved”', 'Priority: Low', 'Add #done'])
      await shown.getByText(text, { exact: true }).waitFor();
    await shown.getByText('Thank you, friend!').waitFor();
    await expectNoViolations(ada);
    await shown.getByRole('button', { name: 'Cancel' }).click();
    expect(await composer().inputValue()).toBe('Kept. ');
    expect((await stored(id)).status).toBe('open');
    await page.keyboard.type('/done');
    await page.keyboard.press('Enter');
    await shown.getByRole('button', { name: 'Send and apply' }).click();
    await isOpen('day|after');
    expect(page.url()).toContain(next);
    expect(await stored(id)).toMatchObject({ status: 'resolved', priority: 'low', tags: ['done'] });
    await open(id);
    await messages().getByText('Thank you, friend!').waitFor();
    await messages().getByText('Ada added #done with “Done, thank you”').waitFor();
    expect(await composer().inputValue()).toBe('Kept. ');
  });

  test('a saved reply is not sent when somebody has written meanwhile, until its member has decided', async () => {
    const id = await start('day|moved');
    const other = await ada.context.newPage();
    await dashboard.open(pathTo('home'), other);
    const written = (body: string) => asPerson(other, 'POST', `/v1/conversations/${id}/messages`, { body });
    const present = () => asPerson(other, 'GET', `/v1/conversations/${id}`);
    await open(id);
    await messages().getByText('Hello', { exact: true }).waitFor();
    await page.route(`**/v1/conversations/${id}*`, async route =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    ); // so that the page does not show the next messages
    await written('I have answered this.');
    await composer().focus();
    await page.keyboard.type('/done');
    await page.getByRole('listbox', { name: 'Saved replies' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Send and apply' }).press('Enter');
    const missed = thread().getByRole('alert').filter({ hasText: 'Not sent yet' });
    await missed.getByText('I have answered this.', { exact: true }).waitFor();
    const now = await present();
    expect([now.status, now.tags, now.message_count]).toEqual(['pending', [], 2]);
    await expectNoViolations(ada);
    await missed.getByRole('button', { name: 'Back to the saved reply' }).and(page.locator(':focus')).press('Enter');
    await written('And this.');
    await page.getByRole('button', { name: 'Send and apply' }).click();
    await missed.getByText('And this.', { exact: true }).waitFor();
    expect(await missed.getByText('I have answered this.', { exact: true }).count()).toBe(0);
    await page.unroute(`**/v1/conversations/${id}*`);
    await missed.getByRole('button', { name: 'Send anyway' }).click();
    await waitFor(async () => (await present()).status === 'resolved');
    expect(await present()).toMatchObject({ message_count: 4, tags: ['done'] });
    await other.close();
  });

  test('a conversation is merged into another one of its user, and leads to it', async () => {
    const [into, id] = [await start('day|5', 'First question'), await start('day|5', 'Second question')];
    await open(id);
    await thread().getByRole('button', { name: 'Merge' }).click();
    const dialog = page.getByRole('dialog', { name: 'Merge this conversation' });
    await dialog.getByLabel('First question').check();
    await expectNoViolations(ada);
    await dialog.getByRole('button', { name: 'Merge', exact: true }).click();
    await waitFor(async () => page.url().includes(into));
    await messages().getByText('First question').waitFor();
    expect(await stored(id)).toMatchObject({ status: 'resolved', merged_into_id: into });
    await open(id);
    await messages().getByText('Ada merged the conversation into another one').waitFor();
    expect(await messages().getByText('Ada resolved the conversation').count()).toBe(0);
    expect(await composer().count()).toBe(0);
    await expectNoViolations(ada);
    await page.getByRole('link', { name: 'Open the other conversation' }).click();
    await messages().getByText('First question').waitFor();
  });

  test('the fields of the tenant are set next to the conversation, and a reply that is due is shown', async () => {
    await asPerson(page, 'PATCH', '/v1/tenant', {
      custom_fields: [
        { key: 'order', label: 'Order number', type: 'text' },
        { key: 'tier', label: 'Tier', type: 'choice', options: ['Gold', 'Silver'] },
        { key: 'gift', label: 'Gift', type: 'boolean' },
      ],
      reply_targets: { none: 60 },
    });
    const key = await asPerson(page, 'POST', '/v1/api-keys', { name: 'server', kind: 'server' });
    const me = await asPerson(page, 'GET', '/v1/me');
    const token = await signToken(key, me.account.memberships[0].tenant.id, 'day|7');
    const { baseUrl } = dashboard.installation;
    const { id } = await asBearer(baseUrl, token, 'POST', '/v1/conversations', { message: 'Where is it?' });
    await open(id);
    await thread()
      .getByText(/^Reply due in (59|60) min|^Reply due in 1 hr/)
      .waitFor();
    const panel = page.getByRole('complementary', { name: 'User' });
    await panel.getByLabel('Order number').fill('4711');
    await page.keyboard.press('Enter');
    await messages().getByText('Ada changed Order number: 4711').waitFor();
    await panel.getByLabel('Tier').selectOption('Gold');
    await panel.getByLabel('Gift').selectOption('Yes');
    await waitFor(async () => Object.keys((await stored(id)).custom).length === 3);
    expect((await stored(id)).custom).toEqual({ order: '4711', tier: 'Gold', gift: true });
    await panel.getByLabel('Tier').selectOption('–');
    await waitFor(async () => (await stored(id)).custom.tier === undefined);
    await expectNoViolations(ada);
  });

  test('a saved reply sets fields, which are chosen in its form', async () => {
    await dashboard.open(pathTo('savedReplies'));
    await page.getByRole('button', { name: 'New saved reply' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New saved reply' });
    await dialog.getByLabel('Name').fill('Gold customer');
    const fields = page.getByRole('dialog', { name: 'Fields' });
    const add = async (field: string, value: (dialog: Locator) => Promise<unknown>) => {
      await dialog.getByRole('button', { name: 'Add field' }).click();
      await fields.getByLabel('Field').selectOption(field);
      await value(fields);
      await expectNoViolations(ada);
      await fields.getByRole('button', { name: 'Add field' }).click();
      await fields.waitFor({ state: 'detached' });
    };
    await add('Tier', form => form.getByLabel('Value', { exact: true }).selectOption('Gold'));
    await add('Order number', form => form.getByLabel('Remove the value').check());
    await dialog.getByText('Tier: Gold').waitFor();
    await dialog.getByText('Order number: no value').waitFor();
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Gold customer'); // not saved yet
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    const { data } = await asPerson(page, 'GET', '/v1/macros');
    const { id, changes } = data.find((each: { name: string }) => each.name === 'Gold customer');
    expect(changes).toEqual({ custom: { tier: 'Gold', order: null } });
    await asPerson(page, 'DELETE', `/v1/macros/${id}`);
  });

  test('a note mentions a member after an at sign', async () => {
    const id = await start('day|8');
    await open(id);
    await messages().getByText('Hello', { exact: true }).waitFor();
    await page.keyboard.press('r');
    await page.keyboard.type('@a');
    expect(await page.getByRole('listbox', { name: 'Members' }).count()).toBe(0); // only in notes
    await page.getByRole('button', { name: 'Note', exact: true }).click();
    await composer().fill('');
    await composer().focus();
    await page.keyboard.type('Ask @a');
    await page.getByRole('listbox', { name: 'Members' }).getByRole('option', { name: /Ada/ }).waitFor();
    await expectNoViolations(ada);
    await page.keyboard.press('Enter');
    await waitFor(async () => (await composer().inputValue()) === 'Ask @Ada ');
    await page.keyboard.type('about it');
    await page.keyboard.press('Control+Enter');
    await messages().getByText('Ask @Ada about it', { exact: true }).waitFor();
    const { data } = await asPerson(page, 'GET', `/v1/conversations/${id}/messages?order=desc&limit=1`);
    expect(data[0].mentions).toHaveLength(1);
  });

  test('is accessible in both themes and all sizes', async () => {
    const snoozed = await start('day|6');
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await asPerson(page, 'PATCH', `/v1/conversations/${snoozed}`, { status: 'snoozed', snoozed_until: until });
    const paths = [pathTo('conversation', { id: snoozed }), pathTo('savedReplies')];
    await expectNoViolationsOn(ada, paths, path => dashboard.open(path));
  });
});
