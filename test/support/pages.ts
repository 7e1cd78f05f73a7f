import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { createLog } from '../../src/platform/log.ts';
import { builtHash, hashSources, PAGES_DIR, startPagesBuild } from '../../src/platform/pages-build.ts';

/** Builds the dashboard if its sources have changed, as a start from source does. */
export async function buildDashboard(): Promise<void> {
  await startPagesBuild(createLog('error', 'test')).done;
  if (builtHash() !== hashSources()) throw new Error('The dashboard could not be built; the log above says why.');
}

/** The size of all scripts and styles that a page of the dashboard has loaded, compressed with gzip. */
export async function loadedBytes(page: Page): Promise<number> {
  const paths = await page.evaluate<string[]>(
    "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)",
  );
  const files = new Set(paths.filter(path => /\/assets\/.+\.(js|css)$/.test(path)));
  return [...files].reduce(
    (sum, path) => sum + statSync(`${join(PAGES_DIR, path.replace('/dashboard/', ''))}.gz`).size,
    0,
  );
}
