import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, openPage, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { asPerson, join, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

/** The global of a page that has computed styles. */
interface StyledPage {
  getComputedStyle(node: unknown): { getPropertyValue(name: string): string };
}

const YELLOW = '#facc15';
const LONG_NAME = 'Usefulness of the pages about shipping, returns and refunds';

describe.runIf(hasBrowser())('the appearance of cards', { timeout: 90_000 }, () => {
  let dashboard: OpenDashboard;
  let ada: Watched;
  let page: Page;
  const open = (path: string, of?: Page) => dashboard.open(path, of);
  const color = (name: string) => page.getByRole('textbox', { name, exact: true });
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const stored = async () => (await asPerson(page, 'GET', '/v1/tenant')).appearance;
  const screens = (of = page) => of.getByRole('group', { name: /^Preview: (Light|Dark) page$/ });
  const screen = (name: string) => page.getByRole('group', { name: `Preview: ${name}` });
  /** A computed color of the send button or the card on a screen. */
  const styleOf = (name: string, part: string, property: string): Promise<string> =>
    screen(name)
      .locator(`[part~=${part}]`)
      .first()
      .evaluate(
        (node, name) => (globalThis as unknown as StyledPage).getComputedStyle(node).getPropertyValue(name),
        property,
      );
  const saved = async (change: () => Promise<unknown>) => {
    await change();
    await press('Save changes');
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
  };

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ person: ada, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
  }, 120_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('is edited with a live preview of the card on light and dark pages', async () => {
    await open(pathTo('appearance'));
    await screens().first().getByRole('radio').first().waitFor();
    expect(await screens().count()).toBe(2);
    await expectNoViolations(ada);
    await color('Accent color').fill('#0f766e');
    await waitFor(async () => (await styleOf('Light page', 'submit', 'background-color')) === 'rgb(15, 118, 110)');
    expect(await styleOf('Dark page', 'submit', 'color')).toBe('rgb(255, 255, 255)');
    const lightOf = async (name: string) => (await styleOf(name, 'card', 'background-color')).match(/\d+/g)?.[0];
    expect(Number(await lightOf('Light page'))).toBeGreaterThan(200);
    expect(Number(await lightOf('Dark page'))).toBeLessThan(60);
    await page.getByRole('radio', { name: 'Dark', exact: true }).check();
    await waitFor(async () => Number(await lightOf('Light page')) < 60);
    await page.getByRole('radio', { name: 'As the visitor' }).check();
    await color('Background color').fill('#fff7ed');
    await waitFor(async () => (await styleOf('Dark page', 'card', 'background-color')) === 'rgb(255, 247, 237)');
    expect(await styleOf('Dark page', 'title', 'color')).toBe('rgb(0, 0, 0)'); // as the server derives it
    await page.getByLabel('Radius of corners').fill('4');
    await page.getByLabel('Placement').selectOption('popover-bottom-right');
    await page.getByLabel('Device').selectOption('desktop');
    await expectNoViolations(ada);
    await saved(async () => undefined);
    expect(await stored()).toEqual({
      ...{ theme: 'auto', accent: '#0f766e', background: '#fff7ed', text: null },
      ...{ radius: 4, font: 'inherit', placement: 'popover-bottom-right' },
    });
  });

  test('a color that is hard to read is refused at its field, with one that passes', async () => {
    await asPerson(page, 'PATCH', '/v1/tenant', { appearance: { background: null, accent: null } });
    await open(pathTo('appearance'));
    await color('Accent color').fill('yellow');
    await press('Save changes');
    await page.getByText('Enter a color such as #1d4ed8.').waitFor();
    await color('Accent color').fill(YELLOW);
    await press('Save changes');
    await page.getByText(/contrast of 1\.\d+:1/).waitFor();
    expect(await color('Accent color').getAttribute('aria-invalid')).toBe('true');
    await expectNoViolations(ada);
    const nearest = page.getByRole('button', { name: /^Use #/ });
    const offered = (await nearest.textContent())?.replace('Use ', '');
    await nearest.press('Enter');
    expect(await color('Accent color').inputValue()).toBe(offered);
    await waitFor(async () => (await color('Accent color').and(page.locator(':focus')).count()) > 0);
    expect((await stored()).accent).toBe(null);
    await saved(async () => undefined);
    expect((await stored()).accent).toBe(offered);
    await saved(() => page.getByRole('button', { name: 'Use the default of Accent color' }).click());
    expect((await stored()).accent).toBe(null);
  });

  test('cards are shown in every language of the tenant, with the texts of its live questions', async () => {
    await asPerson(page, 'PATCH', '/v1/tenant', { locales: ['en', 'ar', 'pt'] });
    const { id } = await asPerson(page, 'POST', '/v1/questions', {
      ...{ type: 'thumbs', title: 'Useful?', name: LONG_NAME, locale: 'en', translations: { pt: { title: 'Útil?' } } },
    });
    await asPerson(page, 'POST', `/v1/questions/${id}/publish`);
    await open(pathTo('appearance'));
    await page.getByLabel('Language of the preview').selectOption('ar');
    await screen('Light page').getByRole('button', { name: 'إرسال' }).waitFor();
    await waitFor(async () => (await styleOf('Light page', 'card', 'direction')) === 'rtl');
    await page.getByLabel('Card', { exact: true }).selectOption({ label: LONG_NAME });
    await page.getByLabel('Language of the preview').selectOption('pt');
    await screen('Dark page').getByText('Útil?').waitFor();
    await screen('Dark page').getByRole('radio').first().check();
    await screen('Dark page').getByRole('button', { name: 'Enviar' }).click();
    await page.getByRole('button', { name: 'Show the card again' }).waitFor();
    await expectNoViolations(ada);
    expect(ada.complaints).toEqual([]);
  });

  test('edits are kept, asked for and discarded as on other pages', async () => {
    await open(pathTo('appearance'));
    await page.getByLabel('Radius of corners').fill('9');
    await page.getByText('Unsaved changes').waitFor();
    await page.waitForTimeout(500); // the edit is stored after a pause
    await page.reload();
    await page.getByText('were restored', { exact: false }).waitFor();
    expect(await page.getByLabel('Radius of corners').inputValue()).toBe('9');
    await page.getByRole('link', { name: 'Members' }).click();
    await page.getByRole('alertdialog', { name: 'Leave without saving?' }).waitFor();
    await press('Keep editing');
    await press('Discard');
    await press('Discard changes');
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Radius of corners').inputValue()).toBe('4');
  });

  test('members who may not change settings see the cards only', async () => {
    const { link } = await asPerson(page, 'POST', '/v1/members', { email: 'ines@acme.example', role: 'analyst' });
    await using ines = await openPage(dashboard.browser);
    await join(ines.page, link, 'Ines');
    await open(pathTo('appearance'), ines.page);
    await ines.page.getByText('Your role has read-only access to the settings.').waitFor();
    await screens(ines.page).first().getByRole('radio').first().waitFor();
    expect(await ines.page.getByRole('textbox', { name: 'Accent color' }).count()).toBe(0);
    await expectNoViolations(ines);
  });

  test('fits a phone', async () => {
    const state = await ada.context.storageState();
    await using phone = await openPage(dashboard.browser, {
      ...{ storageState: state, viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
    });
    await open(pathTo('appearance'), phone.page);
    for (const device of ['phone', 'desktop']) {
      await phone.page.getByLabel('Device').selectOption(device);
      await screens(phone.page).first().getByRole('radio').first().waitFor();
      expect(await phone.page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      await expectNoViolations(phone);
    }
  });
});
