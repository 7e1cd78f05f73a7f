import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { waitFor } from './wait.ts';

/** The timeout for an expected state of the page: only reached by faults, however slow the machine. */
const PATIENCE_MS = 60_000;

export interface Watched extends AsyncDisposable {
  page: Page;
  context: BrowserContext;
  /** Events that must not occur: violations of the security policy, warnings of libraries, script errors, dialogs. */
  complaints: string[];
}

/**
 * Reloads a page whose scripts or styles were not loaded because the machine's network has changed: the browser ends all
 * requests whenever a container starts or stops, and the page would stay empty.
 */
function reloadWhenInterrupted(page: Page): void {
  let isReloading = false;
  page.on('requestfailed', async request => {
    if (request.failure()?.errorText !== 'net::ERR_NETWORK_CHANGED' || isReloading) return;
    if (!['script', 'stylesheet'].includes(request.resourceType())) return;
    isReloading = true;
    await page.reload().catch(() => undefined); // the page has been closed, or has gone elsewhere
    isReloading = false;
  });
}

/** Opens a page in a new profile and records forbidden events. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Watched> {
  const usual = { locale: 'en-GB', viewport: { width: 1440, height: 900 } };
  // Without animations, so that colors are not checked during a transition.
  const context = await browser.newContext({ ...usual, reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  reloadWhenInterrupted(page);
  const complaints: string[] = [];
  page.on('console', message => {
    if (message.type() === 'warning' || /content security policy|trusted ?type/i.test(message.text()))
      complaints.push(message.text());
  });
  page.on('pageerror', error => complaints.push(String(error)));
  page.on('dialog', dialog => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, context, complaints, [Symbol.asyncDispose]: () => context.close() };
}

/** Opens a URL of the dashboard and waits until it has loaded. */
export async function visit(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await waitFor(async () => (await page.getByText(/^(Loading…|Lädt …)$/).count()) === 0);
}

/**
 * Waits for a short message in full. Text elsewhere on the page does not count: a link "Saved replies" is no proof that
 * anything was saved.
 */
export const toasted = (page: Page, text: string): Promise<void> =>
  page.getByRole('status').getByText(text, { exact: true }).first().waitFor();

/** The section of a page with this heading. */
export const panel = (page: Page, heading: string | RegExp): Locator =>
  page.locator('section').filter({ has: page.getByRole('heading', { level: 2, name: heading }) });

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** WCAG 2.2 AA and best practices. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Violation {
  id: string;
  help: string;
  nodes: { html: string; failureSummary?: string }[];
}

/**
 * The violations found by axe on the page with these rules or groups of rules, one line each.
 *
 * It runs in an isolated world, because the page's security policy blocks foreign scripts.
 */
export async function axeViolations({ page, context }: Watched, rules: string[] = RULES): Promise<string[]> {
  const session = await context.newCDPSession(page);
  const { frameTree } = await session.send('Page.getFrameTree');
  const world = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id, worldName: 'axe' });
  const evaluate = async (expression: string) => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      contextId: world.executionContextId,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  await evaluate(await readFile(AXE, 'utf8'));
  const run = `axe.run(document, { runOnly: ${JSON.stringify(rules)} }).then(({ violations }) => violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary })) })))`;
  const violations = (await evaluate(run)) as Violation[];
  await session.detach();
  return violations.map(({ id, help, nodes }) =>
    [
      `${id}: ${help}`,
      ...nodes.slice(0, 3).map(node => `${node.html.slice(0, 200)} ${node.failureSummary ?? ''}`),
    ].join('\n  '),
  );
}

/** Expects no forbidden events and no violations found by axe. */
export async function expectNoViolations(watched: Watched): Promise<void> {
  expect(await axeViolations(watched, RULES)).toEqual([]);
  expect(watched.complaints).toEqual([]);
}

/** Even a short transition has intermediate colors. */
const TRANSITIONS_ENDED =
  'new Promise(requestAnimationFrame).then(() => Promise.allSettled(document.getAnimations().filter(each => each instanceof CSSTransition).map(each => each.finished)))';

/** The widths at which pages are checked: of a desktop, of the same with 200 % zoom, of a phone and of a small phone. */
const WIDTHS = [1440, 720, 390, 360];
/** The widths at which colors are checked in the dark theme too. */
const DARK_WIDTHS = [1440, 390];

/**
 * Checks each of these pages at all widths, in light and dark.
 *
 * The dark theme only changes colors, so only these are checked again.
 *
 * @param open opens a path and waits until it is rendered
 */
export async function expectNoViolationsOn(
  watched: Watched,
  paths: string[],
  open: (path: string) => Promise<void>,
): Promise<void> {
  const { page } = watched;
  for (const path of paths) {
    await page.setViewportSize({ width: WIDTHS[0] as number, height: 800 });
    await page.emulateMedia({ colorScheme: 'light' });
    await open(path);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate(TRANSITIONS_ENDED);
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      expect(overflow, `${path} at ${width}`).toBeLessThanOrEqual(0);
      if (width === 360) continue; // only the width
      await expectNoViolations(watched);
      if (!DARK_WIDTHS.includes(width)) continue;
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.evaluate(TRANSITIONS_ENDED);
      expect(await axeViolations(watched, ['color-contrast']), `${path} at ${width}, dark`).toEqual([]);
      await page.emulateMedia({ colorScheme: 'light' });
    }
  }
  await page.emulateMedia({ colorScheme: null });
}
