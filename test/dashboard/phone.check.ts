import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { openPage, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { asPerson, setUp } from '../support/team.ts';

/** Whether the tab of the present page is within the row of tabs. As a text, because of the page's types. */
const TAB_IN_VIEW = `(tab => {
  const [inner, outer] = [tab, tab.parentElement].map(node => node.getBoundingClientRect());
  return inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
})(document.querySelector('main [aria-current=page]'))`;

/** The visible cells with a label and without a value. */
const EMPTY_CELLS = `[...document.querySelectorAll('td')].filter(cell => !cell.textContent && cell.getClientRects().length > 0)
  .map(cell => cell.dataset.label)`;

/** The labels of choices that leave their box. */
const OUTSIDE = `[...document.querySelectorAll('label:has([type=radio])')].filter(label => {
  const range = document.createRange();
  range.selectNodeContents(label);
  const { right } = label.getBoundingClientRect();
  return range.getBoundingClientRect().right > right - 5;
}).map(label => label.textContent)`;

describe.runIf(hasBrowser())('on a phone in German', { timeout: 120_000 }, () => {
  let dashboard: OpenDashboard;
  let phone: Watched;
  const open = (path: string) => dashboard.open(path, phone.page);

  beforeAll(async () => {
    dashboard = await openDashboard();
    await setUp(dashboard.page, dashboard.installation.setupLink);
    await asPerson(dashboard.page, 'PUT', '/v1/identities/ux%7C1', {});
    const storageState = await dashboard.page.context().storageState();
    phone = await openPage(dashboard.browser, {
      ...{ storageState, locale: 'de-DE', viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
    });
  }, 300_000);
  afterAll(async () => {
    await phone?.[Symbol.asyncDispose]();
    await dashboard?.[Symbol.asyncDispose]();
  });

  test.each(['general', 'apiKeys', 'webhooks', 'members', 'auditLog'] as const)(
    'the tab of the page %s is in view',
    async name => {
      await open(pathTo(name));
      expect(await phone.page.evaluate(TAB_IN_VIEW)).toBe(true);
    },
  );

  test('a person without attributes has no label without a value', async () => {
    await open(pathTo('people'));
    await phone.page.getByRole('link', { name: 'ux|1' }).waitFor();
    expect(await phone.page.evaluate(EMPTY_CELLS)).toEqual([]);
  });

  test('the types of questions stay within their boxes', async () => {
    await open(pathTo('newQuestion'));
    await phone.page.getByText('Mehrfachauswahl').waitFor();
    await phone.page.getByText('Noch nicht gespeichert').waitFor();
    expect(await phone.page.evaluate(OUTSIDE)).toEqual([]);
  });

  test('the banner of a lost connection leaves the bar with the menu free', async () => {
    await open(pathTo('questions'));
    await phone.page.route('**/v1/**', route => route.abort());
    const banner = phone.page.getByText('Verbindung unterbrochen, neuer Versuch läuft');
    await banner.waitFor();
    const menu = await phone.page.getByRole('button', { name: 'Menü' }).boundingBox();
    const box = await banner.boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual((menu?.y ?? 0) + (menu?.height ?? 0));
    await phone.page.unroute('**/v1/**');
  });
});
