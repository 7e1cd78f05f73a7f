import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openPage, visit, type Watched } from './browser.ts';
import { openBrowser } from './chromium.ts';
import { type Installation, startInstallation } from './installation.ts';
import { buildDashboard } from './pages.ts';

/** The dashboard of a new installation, open in one person's browser without a session. */
export interface OpenDashboard extends AsyncDisposable {
  installation: Installation;
  browser: Browser;
  /** The person's browser page and its forbidden events. */
  person: Watched;
  page: Page;
  /** Opens a path below `/dashboard`, in the person's page or another one, and waits until it has loaded. */
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
    open: (path, of = page) => visit(of, `${installation.baseUrl}/dashboard${path.replace('~/dashboard', '')}`),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
