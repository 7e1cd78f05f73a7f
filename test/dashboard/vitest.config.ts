import { defineConfig } from 'vitest/config';

/** Walks through the dashboard in a browser, each state looked at by axe: `npm run test:dashboard`, minutes long. */
export default defineConfig({
  test: {
    include: ['test/dashboard/*.check.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
