import { existsSync } from 'node:fs';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';
import { isFound } from './required.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome-stable'];

/** The path of the browser: `CHROMIUM`, or the default path of Linux distributions. */
export const chromiumPath = (): string | undefined => process.env.CHROMIUM ?? PLACES.find(path => existsSync(path));

/** Whether browser tests can run. Otherwise prints a message, or throws if `TESTS_REQUIRE` contains `chromium`. */
export const hasBrowser = (): boolean =>
  isFound(chromiumPath() !== undefined, 'chromium', 'Chromium', 'all browser tests of the dashboard are');

export const openBrowser = (options: LaunchOptions = {}): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    ...options,
  });
