import { defineConfig } from 'vitest/config';

/** Tests of the dashboard in a browser, with axe on each state: `npm run test:dashboard` takes minutes. */
export default defineConfig({
  test: {
    include: ['test/dashboard/*.check.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 240_000,
    hookTimeout: 240_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
