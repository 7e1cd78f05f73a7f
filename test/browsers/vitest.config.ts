import { defineConfig } from 'vitest/config';

/** The card view in Firefox and WebKitGTK, with a real server. Runs for minutes: `npm run test:browsers`. */
export default defineConfig({
  test: {
    include: ['test/browsers/**/*.check.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    maxWorkers: 1,
  },
});
