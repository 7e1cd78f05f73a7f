import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openPage, type Watched } from '../../../support/browser.ts';
import { bundle } from '../page-server.ts';
import type { Shown } from './page.ts';

const ORIGIN = 'http://localhost:1';
/** The policy that the documentation names: scripts of the app, requests to Parley. */
const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'";
const HTML = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>App</title><meta name="color-scheme" content="light dark"><meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><main></main><script type="module" src="/page.js"></script></body></html>`;

export const bundleGallery = (): Promise<string> => bundle(join(import.meta.dirname, 'page.ts'));

/** Opens the gallery in a new profile, under a strict security policy. */
export async function openGallery(
  browser: Browser,
  script: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const watched = await openPage(browser, options);
  await watched.context.route(`${ORIGIN}/**`, route => {
    const isScript = route.request().url().endsWith('.js');
    const headers = { 'Content-Type': isScript ? 'text/javascript' : 'text/html', 'Content-Security-Policy': POLICY };
    return route.fulfill({ headers, body: isScript ? script : HTML });
  });
  await watched.page.goto(`${ORIGIN}/`);
  return watched;
}

/** Shows cards, and waits until each view has its first one. */
export async function show(page: Page, shown: Shown): Promise<void> {
  await page.evaluate(given => window.gallery.show(given), shown);
  await page.waitForFunction(() => !document.querySelector('parley-feedback:not([data-state=card])'));
}

/** Runs in a page: goes Back, or presses outside, as soon as a dialog is open. */
export function actOnOpening(isBack: boolean): void {
  history.pushState(null, '', '/page');
  const init = { bubbles: true, clientX: 5, clientY: 300, detail: 1 };
  const look = () => {
    const panel = document.querySelector('parley-feedback')?.shadowRoot?.querySelector('dialog');
    if (!panel?.open) return void requestAnimationFrame(look);
    if (isBack) return history.back();
    document.body.dispatchEvent(new PointerEvent('pointerdown', init));
    document.body.dispatchEvent(new MouseEvent('click', init));
  };
  look();
}
