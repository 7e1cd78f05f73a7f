import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openPage, visit, type Watched } from './browser.ts';
import { openBrowser } from './chromium.ts';
import { type Installation, startInstallation } from './installation.ts';
import { buildDashboard } from './pages.ts';

/** The dashboard of an installation of its own, with one person's page open, who has not signed in. */
export interface OpenDashboard extends AsyncDisposable {
  installation: Installation;
  browser: Browser;
  /** The person, and what went wrong in their page. */
  person: Watched;
  page: Page;
  /** Goes to a path below `/dashboard`, in the person's page or in that of somebody else, and waits until it is there. */
  open(path: string, of?: Page): Promise<void>;
}

export async function openDashboard(
  settings?: Record<string, string>,
  options?: BrowserContextOptions,
): Promise<OpenDashboard> {
  await buildDashboard();
  await using stack = new AsyncDisposableStack();
  const installation = stack.use(await startInstallation(settings));
  const browser = stack.adopt(await openBrowser(), opened => opened.close());
  const person = stack.use(await openPage(browser, options));
  const { page } = person;
  const opened = stack.move();
  return {
    installation,
    browser,
    person,
    page,
    open: (path, of = page) => visit(of, `${installation.baseUrl}/dashboard${path}`),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
