import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

/** How long a test waits for what should be on the page. */
const PATIENCE_MS = 10_000;

export interface Watched extends AsyncDisposable {
  page: Page;
  context: BrowserContext;
  /** What no page may ever cause: breaches of the security policy, warnings of libraries, errors in scripts, dialogs. */
  complaints: string[];
}

/** A page in a fresh profile, watched for everything that must not happen. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1440, height: 900 }, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
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

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Violation {
  id: string;
  help: string;
  nodes: { html: string; failureSummary?: string }[];
}

/**
 * What axe finds wrong with the page as it stands, WCAG 2.2 AA and what is good practice beside; a line each.
 *
 * It runs in an isolated world, since the page's own policy lets no foreign script in.
 */
export async function axeViolations({ page, context }: Pick<Watched, 'page' | 'context'>): Promise<string[]> {
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
  const run = `axe.run(document, { runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) => violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary })) })))`;
  const violations = (await evaluate(run)) as Violation[];
  await session.detach();
  return violations.map(({ id, help, nodes }) =>
    [
      `${id}: ${help}`,
      ...nodes.slice(0, 3).map(node => `${node.html.slice(0, 200)} ${node.failureSummary ?? ''}`),
    ].join('\n  '),
  );
}

/** Nothing that must not happen has happened, and axe finds nothing. */
export async function expectSound(watched: Watched): Promise<void> {
  expect(await axeViolations(watched)).toEqual([]);
  expect(watched.complaints).toEqual([]);
}
