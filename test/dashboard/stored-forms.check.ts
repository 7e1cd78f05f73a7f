import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { panel, toasted } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { asPerson, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

/** Fills in each of these fields once, by its label, at the moment in which it appears: like a password manager. */
const fillAtOnce = (texts: Record<string, string>) => `{
  const texts = new Map(Object.entries(${JSON.stringify(texts)}));
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
  new MutationObserver(() => {
    for (const label of document.querySelectorAll('label')) {
      const field = document.getElementById(label.htmlFor);
      const text = texts.get(label.textContent);
      if (!field || text === undefined) continue;
      texts.delete(label.textContent);
      set.call(field, text);
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }
  }).observe(document, { childList: true, subtree: true });
}`;

describe.runIf(hasBrowser())('a form of stored values', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let page: Page;
  const tenant = () => asPerson(page, 'GET', '/v1/tenant');

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
  }, 300_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('keeps an input of the moment in which it appears', async () => {
    const quick = await dashboard.person.context.newPage();
    await quick.addInitScript(fillAtOnce({ 'Your name': 'Ada K.', 'Days between questions': '9', Urgent: '45' }));
    await dashboard.open(pathTo('me'), quick);
    expect(await quick.getByLabel('Your name').inputValue()).toBe('Ada K.');
    await dashboard.open(pathTo('inboxSettings'), quick);
    expect(await panel(quick, 'Reply times').getByLabel('Urgent').inputValue()).toBe('45');
    await panel(quick, 'Reply times').getByRole('button', { name: 'Save changes' }).click();
    await toasted(quick, 'Saved');
    await dashboard.open(pathTo('general'), quick);
    const days = quick.getByLabel('Days between questions');
    expect(await days.inputValue()).toBe('9');
    await panel(quick, /^Tenant$/)
      .getByRole('button', { name: 'Save changes' })
      .click();
    await toasted(quick, 'Saved');
    expect(await tenant()).toMatchObject({ cooldown_days: 9, reply_targets: { urgent: 45 } });
    await quick.close();
  });

  test('does not set back a change of somebody else in a field that was edited and saved before', async () => {
    await dashboard.open(pathTo('general'));
    const settings = panel(page, /^Tenant$/);
    const save = () => settings.getByRole('button', { name: 'Save changes' }).click();
    const days = settings.getByLabel('Days between questions');
    await days.fill('10');
    await save();
    await toasted(page, 'Saved');
    await asPerson(page, 'PATCH', '/v1/tenant', { cooldown_days: 3 });
    await settings.getByLabel('Name').fill('Acme Ltd');
    await save();
    await settings.getByRole('alert').getByText('Somebody else has changed this').waitFor();
    await waitFor(async () => (await days.inputValue()) === '3');
    await save();
    await waitFor(async () => (await tenant()).name === 'Acme Ltd');
    expect((await tenant()).cooldown_days).toBe(3);
  });
});
