import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { asPerson, PASSWORD, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

/** Edits of questions are saved, published, discarded or kept, but not lost. */
describe.runIf(hasBrowser())('edits of a question', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let ada: Watched;
  let page: Page;
  const open = (path: string) => dashboard.open(path);
  const question = () => page.getByRole('textbox', { name: 'Question', exact: true });
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const create = (title: string): Promise<{ id: string }> =>
    asPerson(page, 'POST', '/v1/questions', { type: 'nps', title });
  const stored = (id: string) => asPerson(page, 'GET', `/v1/questions/${id}`);

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ person: ada, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
  }, 300_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('are published with the question, after showing what users will see', async () => {
    const { id } = await create('The old words');
    await open(pathTo('question', { id }));
    await question().fill('The new words');
    await page.getByText('Unsaved changes').waitFor();
    await press('Publish');
    await page.getByRole('dialog').locator('ins', { hasText: 'The new words' }).waitFor();
    await expectNoViolations(ada);
    await press('Publish now');
    await page.getByText('The question is live.').waitFor();
    expect(await stored(id)).toMatchObject({ status: 'live', title: 'The new words' });

    await question().fill('Newer words');
    await press('Publish');
    await page.getByRole('dialog').locator('del', { hasText: 'The new words' }).waitFor();
    await page.getByRole('dialog').locator('ins', { hasText: 'Newer words' }).waitFor();
    expect((await stored(id)).title).toBe('The new words');
    await press('Publish changes');
    await page.getByText('The changes are live.').waitFor();
    expect(await stored(id)).toMatchObject({ version: 2, title: 'Newer words' });
  });

  test('are not left without a question, by a link or by Back', async () => {
    const { id } = await create('Left alone');
    await open(pathTo('questions'));
    await page.getByRole('link', { name: 'Left alone' }).click();
    await question().fill('Half an edit');
    await page.getByRole('link', { name: 'People' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Leave without saving?' });
    await dialog.waitFor();
    await expectNoViolations(ada);
    await press('Keep editing');
    expect(await question().inputValue()).toBe('Half an edit');
    await page.evaluate('history.back()');
    await dialog.waitFor();
    expect(page.url()).toContain(`${id}/build`);
    expect(await question().inputValue()).toBe('Half an edit');
    await press('Discard and leave');
    await page.getByRole('heading', { level: 1, name: 'Questions' }).waitFor();
    expect((await stored(id)).title).toBe('Left alone');
    await open(pathTo('question', { id }));
    expect(await question().inputValue()).toBe('Left alone');
  });

  /** Waits until the browser keeps an edit, which it does after a pause. */
  const isStored = (text: string) =>
    page.waitForFunction(value => Object.values(localStorage).some(kept => kept.includes(JSON.stringify(value))), text);

  test('survive a reload and the end of the session, until they are discarded', async () => {
    const { id } = await create('Before');
    await open(pathTo('question', { id }));
    await question().fill('Edited');
    await isStored('Edited');
    await page.reload();
    await waitFor(async () => (await question().inputValue()) === 'Edited');
    await page.getByText('were restored', { exact: false }).waitFor();

    await question().fill('Edited twice');
    await ada.context.clearCookies();
    await press('Save draft');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('Email').fill('ada@acme.example');
    await page.getByLabel('Password').fill(PASSWORD);
    await press('Sign in');
    await waitFor(async () => (await question().inputValue()) === 'Edited twice');
    await expectNoViolations(ada);

    await press('Discard');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Discard changes' }).click();
    await page.getByText('All changes are saved').waitFor();
    expect(await question().inputValue()).toBe('Before');
    await page.reload();
    await question().waitFor();
    expect(await question().inputValue()).toBe('Before');
  });

  test('a saved draft is not offered again', async () => {
    await open(pathTo('newQuestion'));
    await question().fill('A new one');
    await isStored('A new one');
    await press('Save draft');
    await page.getByRole('heading', { level: 1, name: 'A new one' }).waitFor();
    await page.getByText('All changes are saved').waitFor();
    await open(pathTo('newQuestion'));
    expect(await question().inputValue()).toBe('');
  });

  test('the login form is not removed while somebody types', async () => {
    await ada.context.clearCookies();
    await page.reload();
    await page.getByLabel('Email').fill('ada@acme.example');
    await page.evaluate(
      "window.dispatchEvent(new Event('focus')); document.dispatchEvent(new Event('visibilitychange'))",
    );
    await page.waitForTimeout(3000);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.waitForTimeout(500);
    expect(await page.getByLabel('Email').inputValue()).toBe('ada@acme.example');
  });
});
