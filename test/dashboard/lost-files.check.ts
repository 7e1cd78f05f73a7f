import type { Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { openPage, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { setUp } from '../support/team.ts';

/** A network that changes ends requests. The page needs these files, so it must not stay empty without them. */
describe.runIf(hasBrowser())('a page whose files are not loaded', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let person: Watched;
  let page: Page;
  /** The files in the page itself: the script of the start with its dependencies, and its stylesheet. */
  let first: string[];
  const files = /\/dashboard\/assets\/.+\.(js|css)$/;

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ person, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
    const html = await (await fetch(`${dashboard.installation.baseUrl}/dashboard/`)).text();
    first = [...html.matchAll(/\/dashboard\/assets\/[^"]+/g)].map(([path]) => path);
  }, 300_000);
  afterEach(() => page.unrouteAll());
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  const pathOf = (route: Route) => new URL(route.request().url()).pathname;
  const title = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  /** Ends requests that match, and returns their paths. */
  async function end(matches: (path: string, ended: readonly string[]) => boolean): Promise<string[]> {
    const ended: string[] = [];
    await page.route(files, async route => {
      const path = pathOf(route);
      if (!matches(path, ended)) return route.continue();
      ended.push(path);
      await route.abort('internetdisconnected');
    });
    return ended;
  }

  test('requests each part once more, with its stylesheet', async () => {
    const ended = await end((path, known) => !first.includes(path) && !known.includes(path));
    await page.goto(`${dashboard.installation.baseUrl}/dashboard/`);
    await title('Getting started');
    await page.getByRole('link', { name: 'Inbox' }).click();
    await title('Inbox');
    expect(ended.filter(path => path.endsWith('.js')).length).toBeGreaterThan(2);
    expect(ended.filter(path => path.endsWith('.css')).length).toBeGreaterThan(0);
    const styles = await page.evaluate<string[]>(
      '[...document.styleSheets].map(sheet => new URL(sheet.href).pathname)',
    );
    expect(styles).toEqual(expect.arrayContaining(ended.filter(path => path.endsWith('.css'))));
    expect(person.complaints).toEqual([]);
  });

  test('offers to reload when a part is missing for longer', async () => {
    await dashboard.open(pathTo('home'));
    const ended = await end(() => true);
    await page.getByRole('link', { name: 'People' }).click();
    await title('This page could not be loaded');
    expect(ended.length).toBeGreaterThan(2);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Reload page' }).click();
    await title('People');
  });

  test('is reloaded by itself when the start was interrupted', async () => {
    const ended = await end((path, known) => path === first[0] && known.length === 0);
    await page.goto(`${dashboard.installation.baseUrl}/dashboard/`).catch(() => undefined); // the reload ends it
    await title('Getting started');
    expect(ended).toEqual([first[0]]);
  });

  test.each(['en', 'de'])('offers to reload when the start is missing for longer, in %s', async language => {
    await using other = await openPage(dashboard.browser, { locale: language });
    const refuse = (route: Route) => route.abort('internetdisconnected');
    await other.page.route(files, refuse);
    await other.page.goto(`${dashboard.installation.baseUrl}/dashboard/`).catch(() => undefined); // the reload ends it
    const button = other.page.getByRole('button', { name: language === 'de' ? 'Seite neu laden' : 'Reload page' });
    await button.waitFor();
    await other.page.getByRole('alert').waitFor();
    await other.page.unrouteAll();
    await button.click();
    await other.page.getByLabel(language === 'de' ? 'E-Mail' : 'Email').waitFor();
    expect(other.complaints).toEqual([]);
  });
});
