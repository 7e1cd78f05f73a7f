import { existsSync } from 'node:fs';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome-stable'];

/** The path of the browser: `CHROMIUM`, or the default path of Linux distributions. */
export const chromiumPath = (): string | undefined => process.env.CHROMIUM ?? PLACES.find(path => existsSync(path));

/** Whether browser tests can run. Otherwise prints a message, or throws if `TESTS_REQUIRE` contains `chromium`. */
export function hasBrowser(): boolean {
  if (chromiumPath()) return true;
  if (process.env.TESTS_REQUIRE?.includes('chromium'))
    throw new Error('TESTS_REQUIRE contains chromium, which was not found.');
  process.stderr.write('\n*** No Chromium: all browser tests of the dashboard are SKIPPED. ***\n\n');
  return false;
}

export const openBrowser = (options: LaunchOptions = {}): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    ...options,
  });
